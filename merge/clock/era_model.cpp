#include "merge/clock/era_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "merge/clock/graph_solver.h"
#include "merge/clock/link_filter.h"
#include "merge/clock/median.h"

namespace jaxprof::clock {
namespace {

constexpr double kSpacingNs = 5e9;  // of epochs: a tenth of a ppm of wobble stays far below a burst's noise
constexpr std::size_t kMostSights = 10'000'000;  // edges times epochs; more are spaced wider
constexpr std::size_t kMostEpochs = 50'000;      // three days
constexpr std::size_t kMostEpochsABurst = 4;     // more would say nothing new
constexpr float kWellKnown = 3;                  // times the least sigma of an edge: where its residual counts
constexpr double kSightNoiseNs = 50;             // of the best bursts, and
constexpr double kSightNoiseShare = 0.005;       // … of the narrowest interval
constexpr double kFloorQuantile = 0.05;
constexpr double kLoneDoubtShare = 0.1;   // of a single burst's interval, of which nothing else is known
constexpr double kAsymmetryShare = 0.02;  // of the narrowest interval: what directions differ by where nothing tells
constexpr double kLeanNs = 20;            // within a burst; less is not worth a second look
constexpr double kLeastDrift = 0.5e-6;    // of a crystal between two bursts
constexpr double kDriftSigmas = 3;
constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

Interval sight_interval(const ProbeLink& link, const LinkBurst& burst, const CoarseClock& a, const CoarseClock& b,
                        double frequency) {
  Interval found{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double middle_ns = a.axis(burst.a_ns);
  const auto level = [&](const EnvelopePoint& point) {
    const AxisBound bound = on_axis(a, b, burst, point);
    return bound.difference_ns - frequency * (bound.axis_ns - middle_ns);
  };
  for (const EnvelopePoint& high : link.highs(burst)) found.hi = std::min(found.hi, level(high));
  for (const EnvelopePoint& low : link.lows(burst)) found.lo = std::max(found.lo, level(low));
  return found;
}

// By how much the narrowest of some intervals is likely wider than the narrowest there could be: what delays add is
// about exponential, and so is the least of them, less by their number.
double floor_doubt_ns(const std::vector<double>& widths_ns) {
  const auto count = static_cast<double>(widths_ns.size());
  const double least_ns = *std::min_element(widths_ns.begin(), widths_ns.end());
  if (count < 2) return kLoneDoubtShare * std::max(0.0, least_ns);
  const double sum_ns = std::accumulate(widths_ns.begin(), widths_ns.end(), 0.0);
  return (sum_ns / count - least_ns) / (count - 1);
}

class ModelFit {
 public:
  ModelFit(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges, const std::vector<CoarseClock>& clocks,
           const std::vector<bool>& is_fixed)
      : links_(links), edges_(edges), clocks_(clocks), is_fixed_(is_fixed) {
    model_.eras.resize(clocks.size());
    model_.edges.resize(edges.size());
    spread_epochs();
    const std::size_t cells = edges.size() * model_.epochs.count;
    differences_ns_.assign(cells, kNothing);
    sigmas_ns_.assign(cells, 0);
    biases_ns_.assign(edges.size(), 1);
    frequency_sigmas_.assign(edges.size(), std::numeric_limits<double>::infinity());
    frequency_errors_.assign(edges.size(), 0);
  }

  EraModel run() {
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (is_usable(e)) smooth_edge(e);
    }
    solve_epochs();
    fill_gaps();
    bound_drifts();
    summarize_edges();
    return std::move(model_);
  }

 private:
  bool is_usable(std::uint32_t e) const { return clocks_[edges_[e].a].is_known && clocks_[edges_[e].b].is_known; }
  float& difference(std::uint32_t epoch, std::uint32_t e) { return differences_ns_[epoch * edges_.size() + e]; }
  float& sigma(std::uint32_t epoch, std::uint32_t e) { return sigmas_ns_[epoch * edges_.size() + e]; }
  const LinkBurst& burst(std::uint32_t e, std::uint32_t index) const { return links_[edges_[e].link].bursts()[index]; }

  void spread_epochs() {
    double first_ns = std::numeric_limits<double>::infinity();
    double last_ns = -first_ns;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (!is_usable(e)) continue;
      const CoarseClock& a = clocks_[edges_[e].a];
      first_ns = std::min(first_ns, a.axis(burst(e, edges_[e].bursts.front()).a_ns));
      last_ns = std::max(last_ns, a.axis(burst(e, edges_[e].bursts.back()).a_ns));
    }
    if (!(first_ns <= last_ns)) first_ns = last_ns = 0;
    const double span_ns = std::max(last_ns - first_ns, 1e6);
    std::size_t bursts = 0;
    for (const Edge& edge : edges_) bursts += edge.bursts.size();
    const std::size_t limit =
        std::min({kMostEpochs, kMostSights / std::max<std::size_t>(1, edges_.size()), kMostEpochsABurst * bursts});
    const double most = std::max(2.0, static_cast<double>(limit));
    const double steps = std::clamp(std::ceil(span_ns / kSpacingNs), 1.0, most - 1);
    model_.epochs = {first_ns, span_ns / steps, static_cast<std::uint32_t>(steps) + 1};
    for (std::uint32_t k = 0; k < model_.epochs.count; ++k) times_ns_.push_back(model_.epochs.at(k));
  }

  // One link's difference at all epochs that it reaches.
  void smooth_edge(std::uint32_t e) {
    const Edge& edge = edges_[e];
    const ProbeLink& link = links_[edge.link];
    const CoarseClock& a = clocks_[edge.a];
    const CoarseClock& b = clocks_[edge.b];
    const double first_ns = a.axis(burst(e, edge.bursts.front()).a_ns);
    const double last_ns = a.axis(burst(e, edge.bursts.back()).a_ns);
    const Epochs& epochs = model_.epochs;
    const auto begin = static_cast<std::size_t>(
        std::clamp(std::floor((first_ns - epochs.first_ns) / epochs.spacing_ns), 0.0, epochs.count - 1.0));
    const auto end = static_cast<std::size_t>(
        std::clamp(std::ceil((last_ns - epochs.first_ns) / epochs.spacing_ns), 0.0, epochs.count - 1.0));
    const std::span<const double> times = std::span(times_ns_).subspan(begin, end - begin + 1);

    const std::vector<LinkState>* states = nullptr;
    double floor_ns = 0;
    for (int pass = 0; pass < 2; ++pass) {
      double longest_ns = 0;
      sights_.clear();
      widths_ns_.clear();
      for (const std::uint32_t index : edge.bursts) {
        const LinkBurst& of = link.bursts()[index];
        const double at_ns = a.axis(of.a_ns);
        double frequency = 0;
        if (states != nullptr) {
          const double place = (at_ns - times.front()) / epochs.spacing_ns;
          frequency = (*states)[static_cast<std::size_t>(
                                    std::clamp(std::round(place), 0.0, static_cast<double>(times.size() - 1)))]
                          .frequency;
        }
        const Interval interval = sight_interval(link, of, a, b, frequency);
        sights_.push_back({at_ns, interval.middle(), interval.width()});
        widths_ns_.push_back(interval.width());
        longest_ns = std::max(longest_ns, std::abs(static_cast<double>(link.highs(of).front().after_ns)));
      }
      const double doubt_ns = floor_doubt_ns(widths_ns_);
      floor_ns = std::max(0.0, quantile(&widths_ns_, kFloorQuantile));
      for (LinkSight& sight : sights_) {
        const double excess_ns = std::max(0.0, sight.sigma_ns - floor_ns);
        sight.sigma_ns = kSightNoiseNs + kSightNoiseShare * floor_ns + (excess_ns + doubt_ns) / 2;
      }
      states = &filter_.smooth(sights_, times);
      double steepest = 0;
      for (const LinkState& state : *states) steepest = std::max(steepest, std::abs(state.frequency));
      if (steepest * longest_ns < kLeanNs) break;
    }
    biases_ns_[e] = kSightNoiseNs + kAsymmetryShare * floor_ns;
    double frequency_sigma = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const LinkState& state = (*states)[i];
      const auto epoch = static_cast<std::uint32_t>(begin + i);
      // Stamps that contradict each other by years may leave no number.
      if (!std::isfinite(state.offset_ns) || !std::isfinite(state.sigma_ns)) continue;
      difference(epoch, e) = static_cast<float>(state.offset_ns);
      sigma(epoch, e) = static_cast<float>(state.sigma_ns);
      frequency_sigma = std::max(frequency_sigma, state.frequency_sigma);
    }
    frequency_sigmas_[e] = frequency_sigma;
    const double frequency = (*states)[times.size() / 2].frequency;
    model_.edges[e].rate = a.rate / b.rate * (1 + frequency) - 1;
  }

  // Leaves each edge's residuals in place of its differences.
  void solve_epochs() {
    std::vector<GraphEdge> graph;
    for (const Edge& edge : edges_) graph.push_back({edge.a, edge.b});
    GraphSolver solver(is_fixed_, std::move(graph));
    std::vector<GraphSight> sights(edges_.size());
    std::vector<double> before(edges_.size(), std::numeric_limits<double>::quiet_NaN());
    std::vector<std::uint32_t> steps(edges_.size(), 0);
    std::vector<float> loops;
    for (std::uint32_t k = 0; k < model_.epochs.count; ++k) {
      for (std::uint32_t e = 0; e < edges_.size(); ++e) sights[e] = {difference(k, e), biases_ns_[e], sigma(k, e)};
      solver.solve(sights);
      for (std::uint32_t era = 0; era < model_.eras.size(); ++era) {
        const double offset_ns = solver.offsets_ns()[era];
        if (solver.is_reached()[era] && std::isfinite(offset_ns)) reach(era, k, offset_ns, solver.sigmas_ns()[era]);
      }
      for (std::uint32_t e = 0; e < edges_.size(); ++e) {
        const double residual_ns = solver.residuals_ns()[e];
        difference(k, e) = static_cast<float>(residual_ns);
        if (solver.has_loops() && !std::isnan(residual_ns)) loops.push_back(std::abs(static_cast<float>(residual_ns)));
        const double change = (residual_ns - before[e]) / model_.epochs.spacing_ns;
        if (!std::isnan(change)) {
          frequency_errors_[e] += change * change;
          ++steps[e];
        }
        before[e] = residual_ns;
      }
    }
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      frequency_errors_[e] = steps[e] == 0 ? 0 : std::sqrt(frequency_errors_[e] / steps[e]);
    }
    model_.loop_residual_p50_ns = median(&loops);
    model_.loop_residual_p99_ns = quantile(&loops, 0.99);
    model_.loop_residual_max_ns = quantile(&loops, 1);
  }

  void reach(std::uint32_t era, std::uint32_t epoch, double offset_ns, double sigma_ns) {
    EraTrack& track = model_.eras[era];
    if (!track.is_known()) track.first = epoch;
    // What lies between is filled once its other end is known.
    track.offsets_ns.resize(epoch - track.first, std::numeric_limits<double>::quiet_NaN());
    track.sigmas_ns.resize(epoch - track.first, kNothing);
    track.offsets_ns.push_back(offset_ns);
    track.sigmas_ns.push_back(static_cast<float>(sigma_ns));
  }

  // Straight across epochs at which no path led to the reference. The fixed eras stand still all the time.
  void fill_gaps() {
    for (std::size_t era = 0; era < model_.eras.size(); ++era) {
      EraTrack& track = model_.eras[era];
      for (std::size_t i = 0; i < track.offsets_ns.size(); ++i) {
        if (!std::isnan(track.offsets_ns[i])) continue;
        std::size_t end = i;
        while (std::isnan(track.offsets_ns[end])) ++end;
        const double from_ns = track.offsets_ns[i - 1];
        const double step_ns = (track.offsets_ns[end] - from_ns) / static_cast<double>(end - i + 1);
        const float sigma_ns = std::max(track.sigmas_ns[i - 1], track.sigmas_ns[end]);
        for (std::size_t j = i; j < end; ++j) {
          track.offsets_ns[j] = from_ns + step_ns * static_cast<double>(j - i + 1);
          const double distance_ns = model_.epochs.spacing_ns * static_cast<double>(std::min(j - i + 1, end - j));
          track.sigmas_ns[j] = std::hypot(sigma_ns, static_cast<float>(kLeastDrift / kDriftSigmas * distance_ns));
        }
      }
    }
  }

  // The largest change of a track's rate from one epoch to the next: what is no course of a clock is noise of the
  // model.
  double steepest_bend(const EraTrack& track) const {
    double steepest = 0;
    for (std::size_t i = 1; i + 1 < track.offsets_ns.size(); ++i) {
      const double bend_ns = track.offsets_ns[i + 1] - 2 * track.offsets_ns[i] + track.offsets_ns[i - 1];
      steepest = std::max(steepest, std::abs(bend_ns) / model_.epochs.spacing_ns);
    }
    return steepest;
  }

  // A clock's rate is known as well as along the best path from the reference, and observed as it leaves the model.
  void bound_drifts() {
    std::vector<double> knowledge(clocks_.size(), std::numeric_limits<double>::infinity());
    for (std::size_t era = 0; era < clocks_.size(); ++era) {
      if (is_fixed_[era]) knowledge[era] = 0;
    }
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::uint32_t e = 0; e < edges_.size(); ++e) {
        const auto learn = [&](std::uint32_t from, std::uint32_t to) {
          const double through = std::hypot(knowledge[from], frequency_sigmas_[e]);
          if (!(through < knowledge[to] * (1 - 1e-9))) return;
          knowledge[to] = through;
          is_changed = true;
        };
        learn(edges_[e].a, edges_[e].b);
        learn(edges_[e].b, edges_[e].a);
      }
    }
    std::vector<std::vector<double>> errors(clocks_.size());
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (!is_usable(e)) continue;
      errors[edges_[e].a].push_back(frequency_errors_[e]);
      errors[edges_[e].b].push_back(frequency_errors_[e]);
    }
    for (std::size_t era = 0; era < clocks_.size(); ++era) {
      if (is_fixed_[era] || !model_.eras[era].is_known()) continue;
      model_.eras[era].drift = std::max({kLeastDrift, kDriftSigmas * knowledge[era],
                                         kDriftSigmas * median(&errors[era]), steepest_bend(model_.eras[era])});
    }
  }

  // An edge of two bursts a second apart is guessed at the next epoch; how it compares there tells nothing of its link.
  void summarize_edges() {
    std::vector<float> residuals;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      residuals.clear();
      EdgeTrack& track = model_.edges[e];
      float least_sigma_ns = std::numeric_limits<float>::infinity();
      for (std::uint32_t k = 0; k < model_.epochs.count; ++k) {
        if (!std::isnan(difference(k, e))) least_sigma_ns = std::min(least_sigma_ns, sigma(k, e));
      }
      for (std::uint32_t k = 0; k < model_.epochs.count; ++k) {
        const float residual_ns = difference(k, e);
        if (std::isnan(residual_ns) || sigma(k, e) > kWellKnown * least_sigma_ns) continue;
        residuals.push_back(residual_ns);
        track.residual_max_ns = std::max(track.residual_max_ns, std::abs(static_cast<double>(residual_ns)));
      }
      track.residual_ns = median(&residuals);
    }
  }

  const std::vector<ProbeLink>& links_;
  const std::vector<Edge>& edges_;
  const std::vector<CoarseClock>& clocks_;
  const std::vector<bool>& is_fixed_;
  EraModel model_;
  std::vector<double> times_ns_;
  std::vector<float> differences_ns_;  // by epoch and edge
  std::vector<float> sigmas_ns_;
  std::vector<double> biases_ns_;         // by edge
  std::vector<double> frequency_sigmas_;  // by edge: how well its rate is known, and
  std::vector<double> frequency_errors_;  // … how it changes against the solution's
  LinkFilter filter_;
  std::vector<LinkSight> sights_;
  std::vector<double> widths_ns_;
};

}  // namespace

double EraTrack::offset_at(const Epochs& epochs, double axis_ns) const {
  if (offsets_ns.size() == 1) return offsets_ns.front();
  const double place = (axis_ns - epochs.at(first)) / epochs.spacing_ns;
  const auto segment =
      static_cast<std::size_t>(std::clamp(std::floor(place), 0.0, static_cast<double>(offsets_ns.size() - 2)));
  const double share = place - static_cast<double>(segment);
  return offsets_ns[segment] + (offsets_ns[segment + 1] - offsets_ns[segment]) * share;
}

EraModel fit_model(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                   const std::vector<CoarseClock>& clocks, const std::vector<bool>& is_fixed) {
  return ModelFit(links, edges, clocks, is_fixed).run();
}

}  // namespace jaxprof::clock

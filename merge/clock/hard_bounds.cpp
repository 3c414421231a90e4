#include "merge/clock/hard_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jaxprof::clock {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kRoundingNs = 2;      // of knots, points and floats
constexpr std::size_t kBadShare = 10;  // at most every tenth burst of a link is called bad; else the link is

// One packet's bound of an edge, as it lies off the model.
struct Limit {
  double axis_ns;
  double off_ns;
  std::uint32_t burst;
};

struct FloatInterval {
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
};

class BoundFinder {
 public:
  BoundFinder(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
              const std::vector<CoarseClock>& clocks, const std::vector<bool>& is_fixed, const EraModel& model)
      : links_(links), edges_(edges), clocks_(clocks), is_fixed_(is_fixed), model_(model) {
    intervals_.resize(edges.size() * model.epochs.count);
    found_.eras.resize(clocks.size());
    found_.is_contradicted.assign(clocks.size(), false);
    found_.bad_bursts.resize(edges.size());
  }

  HardBounds run() {
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (model_.eras[edges_[e].a].is_known() && model_.eras[edges_[e].b].is_known()) bound_edge(e);
    }
    solve_epochs();
    for (std::size_t era = 0; era < clocks_.size(); ++era) carry_over(era);
    return std::move(found_);
  }

 private:
  // Off the model, at the axis' own time: the clock that tells the time is itself ahead or behind.
  Limit limit_of(const Edge& edge, const LinkBurst& burst, const EnvelopePoint& point, std::uint32_t index) const {
    const AxisBound bound = on_axis(clocks_[edge.a], clocks_[edge.b], burst, point);
    const EraTrack& a = model_.eras[edge.a];
    const EraTrack& b = model_.eras[edge.b];
    const double axis_ns = bound.axis_ns - a.offset_at(model_.epochs, bound.axis_ns);
    const double model_ns = b.offset_at(model_.epochs, axis_ns) - a.offset_at(model_.epochs, axis_ns);
    return {axis_ns, bound.difference_ns - model_ns, index};
  }

  void take_limits(std::uint32_t e) {
    highs_.clear();
    lows_.clear();
    const Edge& edge = edges_[e];
    const ProbeLink& link = links_[edge.link];
    const std::vector<std::uint32_t>& bad = found_.bad_bursts[e];
    for (const std::uint32_t index : edge.bursts) {
      if (std::find(bad.begin(), bad.end(), index) != bad.end()) continue;
      const LinkBurst& burst = link.bursts()[index];
      for (const EnvelopePoint& high : link.highs(burst)) highs_.push_back(limit_of(edge, burst, high, index));
      for (const EnvelopePoint& low : link.lows(burst)) lows_.push_back(limit_of(edge, burst, low, index));
    }
    const auto is_earlier = [](const Limit& x, const Limit& y) { return x.axis_ns < y.axis_ns; };
    for (std::vector<Limit>* limits : {&highs_, &lows_}) {
      if (!std::is_sorted(limits->begin(), limits->end(), is_earlier)) {
        std::stable_sort(limits->begin(), limits->end(), is_earlier);
      }
    }
  }

  // The least upper bound at every epoch, by one walk through time and one back; lows come turned over.
  void walk(const std::vector<Limit>& limits, double sign, double drift, std::vector<double>* at_epochs) const {
    const Epochs& epochs = model_.epochs;
    at_epochs->assign(epochs.count, kUnbounded);
    std::size_t next = 0;
    double bound_ns = kUnbounded;
    double time_ns = epochs.first_ns;
    const auto advance = [&](double to_ns) {
      bound_ns += drift * std::abs(to_ns - time_ns);
      time_ns = to_ns;
    };
    for (std::uint32_t k = 0; k < epochs.count; ++k) {
      for (; next < limits.size() && limits[next].axis_ns <= epochs.at(k); ++next) {
        advance(limits[next].axis_ns);
        bound_ns = std::min(bound_ns, sign * limits[next].off_ns);
      }
      advance(epochs.at(k));
      (*at_epochs)[k] = bound_ns;
    }
    next = limits.size();
    bound_ns = kUnbounded;
    for (std::uint32_t k = epochs.count; k-- > 0;) {
      for (; next > 0 && limits[next - 1].axis_ns > epochs.at(k); --next) {
        advance(limits[next - 1].axis_ns);
        bound_ns = std::min(bound_ns, sign * limits[next - 1].off_ns);
      }
      advance(epochs.at(k));
      (*at_epochs)[k] = std::min((*at_epochs)[k], bound_ns);
    }
  }

  void bound_edge(std::uint32_t e) {
    const Edge& edge = edges_[e];
    const EraTrack& a = model_.eras[edge.a];
    const EraTrack& b = model_.eras[edge.b];
    const double drift = a.drift + b.drift;
    const std::uint32_t first = std::max(a.first, b.first);
    const std::uint32_t last = std::min(a.last(), b.last());
    std::vector<std::uint32_t>& bad = found_.bad_bursts[e];
    for (;;) {
      take_limits(e);
      walk(highs_, 1, drift, &uppers_);
      walk(lows_, -1, drift, &lowers_);
      bool is_empty = false;
      for (std::uint32_t k = first; k <= last; ++k) is_empty = is_empty || -lowers_[k] > uppers_[k];
      if (!is_empty || (bad.size() + 1) * kBadShare > edge.bursts.size()) break;
      bad.push_back(worst_burst());
    }
    for (std::uint32_t k = first; k <= last; ++k) {
      FloatInterval& interval = intervals_[k * edges_.size() + e];
      interval.lo = static_cast<float>(-lowers_[k]);
      interval.hi = static_cast<float>(uppers_[k]);
    }
  }

  // The one that the model contradicts the most.
  std::uint32_t worst_burst() const {
    const auto is_less_off = [](const Limit& x, const Limit& y) { return x.off_ns < y.off_ns; };
    const auto high = std::min_element(highs_.begin(), highs_.end(), is_less_off);
    const auto low = std::max_element(lows_.begin(), lows_.end(), is_less_off);
    return -high->off_ns > low->off_ns ? high->burst : low->burst;
  }

  void solve_epochs() {
    std::vector<GraphEdge> graph;
    for (const Edge& edge : edges_) graph.push_back({edge.a, edge.b});
    IntervalGraph solver(is_fixed_, std::move(graph));
    for (std::size_t era = 0; era < clocks_.size(); ++era) {
      found_.eras[era].assign(model_.eras[era].offsets_ns.size(), {-kUnbounded, kUnbounded});
    }
    for (std::uint32_t k = 0; k < model_.epochs.count; ++k) {
      solve_epoch(k, &solver);
      count_lies(solver);
      for (std::uint32_t era = 0; era < clocks_.size(); ++era) keep_bound(era, k, solver);
    }
    const std::vector<bool>& is_out = found_.is_contradicted;
    if (std::find(is_out.begin(), is_out.end(), true) == is_out.end()) return;
    // A clock that contradicts most others may agree with some by chance; it has no say in what is true of them.
    for (std::uint32_t k = 0; k < model_.epochs.count; ++k) {
      for (std::uint32_t e = 0; e < edges_.size(); ++e) {
        if (is_out[edges_[e].a] || is_out[edges_[e].b]) intervals_[k * edges_.size() + e] = {};
      }
      solve_epoch(k, &solver);
      for (std::uint32_t era = 0; era < clocks_.size(); ++era) {
        if (!is_out[era]) keep_bound(era, k, solver);
      }
    }
  }

  void solve_epoch(std::uint32_t k, IntervalGraph* solver) {
    at_epoch_.clear();
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      const FloatInterval& interval = intervals_[k * edges_.size() + e];
      at_epoch_.push_back({static_cast<double>(interval.lo), static_cast<double>(interval.hi)});
    }
    solver->solve(at_epoch_);
  }

  void count_lies(const IntervalGraph& solver) {
    if (solver.liars().empty()) return;
    ++found_.contradictions;
    std::vector<std::uint32_t> links(clocks_.size(), 0);
    std::vector<std::uint32_t> lies(clocks_.size(), 0);
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (std::isinf(at_epoch_[e].lo) && std::isinf(at_epoch_[e].hi)) continue;
      ++links[edges_[e].a];
      ++links[edges_[e].b];
    }
    for (const std::uint32_t e : solver.liars()) {
      ++lies[edges_[e].a];
      ++lies[edges_[e].b];
    }
    for (std::size_t era = 0; era < clocks_.size(); ++era) {
      if (!is_fixed_[era] && 2 * lies[era] > links[era]) found_.is_contradicted[era] = true;
    }
  }

  void keep_bound(std::uint32_t era, std::uint32_t k, const IntervalGraph& solver) {
    const EraTrack& track = model_.eras[era];
    if (track.is_known() && k >= track.first && k <= track.last()) {
      found_.eras[era][k - track.first] = solver.bounds()[era];
    }
  }

  // From epoch to epoch the truth moves no faster than it may.
  void carry_over(std::size_t era) {
    std::vector<Interval>& bounds = found_.eras[era];
    const double step_ns = model_.eras[era].drift * model_.epochs.spacing_ns;
    const auto take = [step_ns](const Interval& from, Interval* to) {
      to->lo = std::max(to->lo, from.lo - step_ns);
      to->hi = std::min(to->hi, from.hi + step_ns);
    };
    for (std::size_t k = 1; k < bounds.size(); ++k) take(bounds[k - 1], &bounds[k]);
    for (std::size_t k = bounds.size(); k-- > 1;) take(bounds[k], &bounds[k - 1]);
    for (Interval& interval : bounds) {
      // Between two epochs the truth may bulge; on a straight line between their limits it stays inside so.
      interval.lo -= step_ns / 2 + kRoundingNs;
      interval.hi += step_ns / 2 + kRoundingNs;
    }
  }

  const std::vector<ProbeLink>& links_;
  const std::vector<Edge>& edges_;
  const std::vector<CoarseClock>& clocks_;
  const std::vector<bool>& is_fixed_;
  const EraModel& model_;
  HardBounds found_;
  std::vector<FloatInterval> intervals_;  // by epoch and edge
  std::vector<Interval> at_epoch_;        // by edge
  std::vector<Limit> highs_;
  std::vector<Limit> lows_;
  std::vector<double> uppers_;
  std::vector<double> lowers_;
};

}  // namespace

HardBounds find_bounds(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                       const std::vector<CoarseClock>& clocks, const std::vector<bool>& is_fixed,
                       const EraModel& model) {
  return BoundFinder(links, edges, clocks, is_fixed, model).run();
}

}  // namespace jaxprof::clock

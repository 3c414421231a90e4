#include "merge/clock/graph_solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "merge/clock/median.h"

namespace jaxprof::clock {
namespace {

constexpr int kAbsoluteRounds = 6;      // of least absolute residuals
constexpr int kDecliningRounds = 3;     // of weights that fall to 0
constexpr double kRounding = 0.5;       // sigmas within which residuals count squared
constexpr double kNoWeight = 8;         // scales at which an edge says nothing any more
constexpr double kLeastScale = 0.3;     // of sigmas: few loops may agree by chance
constexpr std::size_t kLeastSpare = 8;  // edges; with fewer the residuals say little about the sigmas
constexpr double kLeastWeight = 1e-6;   // of an edge's own: keeps what hangs on it in the system
constexpr double kSettledNs = 1;
constexpr double kPreciseNs = 0.02;
constexpr int kMostIterations = 400;
constexpr int kSigmaRounds = 3;

std::uint32_t root_of(std::vector<std::uint32_t>* parents, std::uint32_t clock) {
  while ((*parents)[clock] != clock) clock = (*parents)[clock] = (*parents)[(*parents)[clock]];
  return clock;
}

}  // namespace

GraphSolver::GraphSolver(std::vector<bool> is_fixed, std::vector<GraphEdge> edges)
    : is_fixed_(std::move(is_fixed)), edges_(std::move(edges)) {
  const std::size_t clocks = is_fixed_.size();
  is_reached_.assign(clocks, false);
  for (std::vector<double>* values : {&offsets_, &sigmas_, &diagonal_, &rest_, &direction_, &product_}) {
    values->assign(clocks, 0);
  }
  residuals_.assign(edges_.size(), 0);
  weights_.assign(edges_.size(), 0);
}

// All fixed clocks are one, since they stand still against each other.
void GraphSolver::find_reached() {
  std::vector<std::uint32_t> parents(is_fixed_.size());
  std::iota(parents.begin(), parents.end(), 0U);
  const auto fixed = std::find(is_fixed_.begin(), is_fixed_.end(), true) - is_fixed_.begin();
  for (std::uint32_t clock = 0; clock < is_fixed_.size(); ++clock) {
    if (is_fixed_[clock]) parents[clock] = static_cast<std::uint32_t>(fixed);
  }
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    if (std::isnan(sights_[e].difference_ns)) continue;
    parents[root_of(&parents, edges_[e].a)] = root_of(&parents, edges_[e].b);
  }
  std::size_t to_find = 0;
  const std::uint32_t root = static_cast<std::size_t>(fixed) < parents.size()
                                 ? root_of(&parents, static_cast<std::uint32_t>(fixed))
                                 : UINT32_MAX;
  for (std::uint32_t clock = 0; clock < is_fixed_.size(); ++clock) {
    is_reached_[clock] = root_of(&parents, clock) == root;
    if (is_reached_[clock] && !is_fixed_[clock]) ++to_find;
  }
  active_.clear();
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    if (!std::isnan(sights_[e].difference_ns) && is_reached_[edges_[e].a]) active_.push_back(e);
  }
  spare_edges_ = active_.size() > to_find ? active_.size() - to_find : 0;
}

void GraphSolver::take_residuals() {
  for (const std::uint32_t e : active_) {
    residuals_[e] = sights_[e].difference_ns - (offsets_[edges_[e].b] - offsets_[edges_[e].a]);
  }
}

// What residuals are in sigmas, from their median; corrected for the share that the solution has adapted to.
double GraphSolver::scale() {
  if (spare_edges_ < kLeastSpare) return 1;
  std::vector<double> ratios;
  ratios.reserve(active_.size());
  for (const std::uint32_t e : active_) {
    ratios.push_back(std::abs(residuals_[e]) / std::sqrt(sights_[e].variance()));
  }
  const double share = static_cast<double>(spare_edges_) / static_cast<double>(active_.size());
  return std::max(kLeastScale, 1.4826 * median(&ratios) / std::sqrt(share));
}

template <typename Weight>
void GraphSolver::reweigh(const Weight& weight_of) {
  for (const std::uint32_t e : active_) {
    const double variance = sights_[e].variance();
    const double ratio = std::abs(residuals_[e]) / std::sqrt(variance);
    const double weight = weight_of(ratio);
    const double least = kLeastWeight / std::max(ratio, 1.0);  // so that among themselves they add up absolutely
    weights_[e] = std::max(weight, least) / variance;
  }
}

// Conjugate gradients on the weighted Laplacian, preconditioned by its diagonal. Weights are per ns², so the residual
// over the diagonal is in ns. Returns by how much a clock was moved at most.
double GraphSolver::solve_linear() {
  std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
  std::fill(rest_.begin(), rest_.end(), 0.0);
  for (const std::uint32_t e : active_) {
    const auto [a, b] = edges_[e];
    diagonal_[a] += weights_[e];
    diagonal_[b] += weights_[e];
    const double pull = weights_[e] * residuals_[e];
    rest_[a] -= pull;
    rest_[b] += pull;
  }
  const std::size_t clocks = is_fixed_.size();
  for (std::size_t i = 0; i < clocks; ++i) {
    if (is_fixed_[i] || !is_reached_[i]) diagonal_[i] = rest_[i] = 0;
  }
  double energy = 0;
  before_ = offsets_;
  const auto precondition = [this](std::size_t i) { return diagonal_[i] > 0 ? rest_[i] / diagonal_[i] : 0; };
  for (std::size_t i = 0; i < clocks; ++i) {
    direction_[i] = precondition(i);
    energy += rest_[i] * direction_[i];
  }
  for (int iteration = 0; iteration < kMostIterations && energy > 0; ++iteration) {
    for (std::size_t i = 0; i < clocks; ++i) product_[i] = diagonal_[i] * direction_[i];
    for (const std::uint32_t e : active_) {
      const auto [a, b] = edges_[e];
      product_[a] -= weights_[e] * direction_[b];
      product_[b] -= weights_[e] * direction_[a];
    }
    double curvature = 0;
    for (std::size_t i = 0; i < clocks; ++i) curvature += direction_[i] * product_[i];
    if (curvature <= 0) break;
    const double length = energy / curvature;
    double next_energy = 0;
    double farthest_ns = 0;
    for (std::size_t i = 0; i < clocks; ++i) {
      if (diagonal_[i] <= 0) continue;
      offsets_[i] += length * direction_[i];
      rest_[i] -= length * product_[i];
      const double step_ns = precondition(i);
      farthest_ns = std::max(farthest_ns, std::abs(step_ns));
      next_energy += rest_[i] * step_ns;
    }
    if (farthest_ns < kPreciseNs) break;
    const double share = next_energy / energy;
    energy = next_energy;
    for (std::size_t i = 0; i < clocks; ++i) direction_[i] = precondition(i) + share * direction_[i];
  }
  take_residuals();
  double moved_ns = 0;
  for (std::size_t i = 0; i < clocks; ++i) moved_ns = std::max(moved_ns, std::abs(offsets_[i] - before_[i]));
  return moved_ns;
}

// A clock knows what its edges tell it, each worth its own sigma and that of the clock at its other end; but more edges
// do not help against its own wandering, of which as much is left as the best path from a fixed clock leaves.
void GraphSolver::estimate_sigmas(double scale) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  std::vector<double> variances(is_fixed_.size(), kNothing);
  std::vector<double> wanders(is_fixed_.size(), kNothing);
  for (std::size_t i = 0; i < is_fixed_.size(); ++i) {
    if (is_fixed_[i]) variances[i] = wanders[i] = 0;
  }
  std::vector<double> knowledge;
  // Far from the reference more rounds pass until anything is known; as long as one learns something go on.
  bool is_new = true;
  for (int round = 0; round < kSigmaRounds || is_new; ++round) {
    is_new = false;
    knowledge.assign(variances.size(), 0);
    for (const std::uint32_t e : active_) {
      const auto [a, b] = edges_[e];
      const double own = 1 / weights_[e];
      const double wander = sights_[e].wander_ns * sights_[e].wander_ns;
      wanders[a] = std::min(wanders[a], wanders[b] + wander);
      wanders[b] = std::min(wanders[b], wanders[a] + wander);
      if (std::isfinite(variances[a])) knowledge[b] += 1 / (own + variances[a]);
      if (std::isfinite(variances[b])) knowledge[a] += 1 / (own + variances[b]);
    }
    for (std::size_t i = 0; i < variances.size(); ++i) {
      if (is_fixed_[i] || knowledge[i] <= 0) continue;
      if (!std::isfinite(variances[i])) is_new = true;
      variances[i] = 1 / knowledge[i];
    }
  }
  for (std::size_t i = 0; i < variances.size(); ++i) {
    sigmas_[i] = std::isfinite(variances[i]) ? std::sqrt(variances[i] * scale * scale + wanders[i]) : kNothing;
  }
}

void GraphSolver::solve(std::span<const GraphSight> sights) {
  sights_ = sights;
  std::fill(residuals_.begin(), residuals_.end(), std::numeric_limits<double>::quiet_NaN());
  find_reached();
  take_residuals();
  for (int round = 0; round < kAbsoluteRounds; ++round) {
    reweigh([](double ratio) { return 1 / std::max(ratio, kRounding); });
    if (solve_linear() < kSettledNs) break;
  }
  double likely = scale();
  for (int round = 0; round < kDecliningRounds; ++round) {
    const double end = kNoWeight * likely;
    reweigh([end](double ratio) {
      const double left = 1 - ratio / end * (ratio / end);
      return left > 0 ? left * left : 0;
    });
    solve_linear();
    likely = scale();
  }
  estimate_sigmas(likely);
}

}  // namespace jaxprof::clock

#include "merge/match/clock_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jaxprof::match {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double between_two(double a, double b, double share) {
  return a + (b - a) * share;
}

}  // namespace

ClockErrors::ClockErrors(const runfile::RunTables& run, std::int64_t epoch_ns)
    : time_ns_(run.clock_model.time_ns), offset_(run.clock_model_offset) {
  for (std::int64_t& time : time_ns_) time -= epoch_ns;
  const runfile::ClockModelTable& model = run.clock_model;
  for (std::size_t i = 0; i < model.time_ns.size(); ++i) {
    errors_.push_back({model.sigma_ns[i], model.hard_lo_ns[i], model.hard_hi_ns[i]});
  }
  for (const double ppb : run.clock_nodes.drift_bound_ppb) growth_.push_back(std::isnan(ppb) ? 0 : ppb * 1e-9);
}

NodeError ClockErrors::at(std::uint32_t node, std::int64_t time_ns) const {
  if (node + std::size_t{1} >= offset_.size() || offset_[node] == offset_[node + 1]) {
    return {kUnknown, kUnknown, kUnknown};
  }
  const auto first = time_ns_.begin() + static_cast<std::ptrdiff_t>(offset_[node]);
  const auto end = time_ns_.begin() + static_cast<std::ptrdiff_t>(offset_[node + 1]);
  const auto after = std::upper_bound(first, end, time_ns);
  const auto knot = [&](auto at) { return static_cast<std::size_t>(at - time_ns_.begin()); };
  if (after != first && after != end) {
    const NodeError& a = errors_[knot(after - 1)];
    const NodeError& b = errors_[knot(after)];
    const double share = static_cast<double>(time_ns - *(after - 1)) /
                         static_cast<double>(std::max<std::int64_t>(*after - *(after - 1), 1));
    return {between_two(a.sigma_ns, b.sigma_ns, share), between_two(a.hard_lo_ns, b.hard_lo_ns, share),
            between_two(a.hard_hi_ns, b.hard_hi_ns, share)};
  }
  const auto outer = after == first ? first : end - 1;
  NodeError error = errors_[knot(outer)];
  const double distance_ns = std::abs(static_cast<double>(time_ns - *outer));
  const double growth_ns = node < growth_.size() ? growth_[node] * distance_ns : 0;
  // What is possible grows by that; what is likely by a third of it.
  error.sigma_ns = std::hypot(error.sigma_ns, growth_ns / 3);
  error.hard_lo_ns -= growth_ns;
  error.hard_hi_ns += growth_ns;
  return error;
}

SpreadError ClockErrors::between(std::span<const std::uint32_t> nodes, std::int64_t time_ns) const {
  std::vector<std::uint32_t> distinct(nodes.begin(), nodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < 2) return {};
  struct Extreme {
    double first = 0;
    double second = 0;
    void take(double value) {
      second = std::max(second, std::min(first, value));
      first = std::max(first, value);
    }
  };
  Extreme sigma;
  std::vector<NodeError> errors;
  for (const std::uint32_t node : distinct) {
    errors.push_back(at(node, time_ns));
    if (std::isnan(errors.back().hard_hi_ns)) return {kUnknown, kUnknown};
    if (!std::isnan(errors.back().sigma_ns)) sigma.take(errors.back().sigma_ns);
  }
  const bool is_sigma_known =
      std::none_of(errors.begin(), errors.end(), [](const NodeError& error) { return std::isnan(error.sigma_ns); });
  // The worst pair: the one that may be the most too early with the one that may be the most too late, of two nodes.
  std::size_t highest = 0;
  std::size_t lowest = 0;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    if (errors[i].hard_hi_ns > errors[highest].hard_hi_ns) highest = i;
    if (errors[i].hard_lo_ns < errors[lowest].hard_lo_ns) lowest = i;
  }
  double bound_ns = 0;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (i != highest) bound_ns = std::max(bound_ns, errors[highest].hard_hi_ns - errors[i].hard_lo_ns);
    if (i != lowest) bound_ns = std::max(bound_ns, errors[i].hard_hi_ns - errors[lowest].hard_lo_ns);
  }
  return {is_sigma_known ? std::hypot(sigma.first, sigma.second) : kUnknown, bound_ns};
}

}  // namespace jaxprof::match

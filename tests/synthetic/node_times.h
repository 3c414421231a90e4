// What the clocks of a node read at a time of the run. Without clocks to be found out, wall clocks are right and raw
// clocks differ by when their node was booted; with them each raw clock has its own rate and each wall clock its error.
#pragma once

#include <cstdint>

#include "tests/synthetic/run_plan.h"

namespace jaxprof::synthetic {

// CLOCK_REALTIME of a right clock at the run's zero.
inline constexpr std::int64_t kZeroUnixNs = 1'764'500'000'000'000'000;

class NodeTimes {
 public:
  NodeTimes() = default;
  explicit NodeTimes(const RunPlan& plan) : seed_(plan.seed), has_errors_(plan.has_clocks) {}
  // CLOCK_MONOTONIC_RAW, the event clock of all processes.
  std::int64_t raw_ns(std::uint32_t node, std::int64_t true_ns) const;
  // CLOCK_REALTIME, and CUPTI's clock.
  std::int64_t wall_ns(std::uint32_t node, std::int64_t true_ns) const;

 private:
  std::uint64_t seed_ = 0;
  bool has_errors_ = false;
};

}  // namespace jaxprof::synthetic

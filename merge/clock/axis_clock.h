// Puts a node's raw stamps on its wall clock, CLOCK_REALTIME, by the anchors that its processes took. This is the
// alignment of last resort: two nodes' wall clocks agree as well as their administrator keeps them, which nothing in a
// trace can tell, so its bound is "unknown" and cross-node differences are not to be trusted below that.
// The wall clock may be set while a job runs. Such a step must not tear the time axis of a node: it is found by
// comparing with CLOCK_MONOTONIC_RAW, taken out, and reported.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/spool/block.h"

namespace jaxprof::clock {

struct WallClockStep {
  std::int64_t realtime_ns;  // CLOCK_REALTIME just after it
  std::int64_t size_ns;      // positive: set forward
};

class WallClockModel {
 public:
  static constexpr std::int64_t kLastNs = (std::int64_t{1} << 62) - 1;  // in the year 2116

  // `anchors` of all processes that share the counter, in any order. Ones with times that no clock shows (before 1970,
  // after kLastNs) are left out. Without any anchor the model maps nothing.
  static WallClockModel fit(std::span<const spool::AnchorRecord> anchors);

  bool is_valid() const { return !knots_.empty(); }
  // CLOCK_REALTIME, ns since the Unix epoch, at the instant `counter` was read: linear between anchors, extrapolated
  // beyond the first and last, and held within 0 and kLastNs, so that two times can always be subtracted. Rises with
  // `counter`. Only if is_valid().
  std::int64_t realtime_ns(std::uint64_t counter) const;
  const std::vector<WallClockStep>& steps() const { return steps_; }

 private:
  struct Knot {
    std::uint64_t counter;
    std::int64_t realtime_ns;
    double ns_per_tick;  // from here to the next knot
  };
  std::vector<Knot> knots_;
  std::vector<WallClockStep> steps_;
};

}  // namespace jaxprof::clock

// A straight line through some bursts of a link, robust against a fair share that lie anywhere: where two clocks stand
// to each other and how fast they part, roughly. The smooth models are made on what is left when these lines are taken
// away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "merge/clock/probe_link.h"

namespace jaxprof::clock {

struct LinkLine {
  std::int64_t a_ns = 0;     // by a's clock
  std::int64_t base_ns = 0;  // b's clock less a's then, and
  double offset_ns = 0;      // what comes on top
  double rate = 0;           // change of the difference per ns of a's clock
  double width_ns = 0;       // of the intervals, median
  std::size_t bursts = 0;
  bool is_rate_known = false;  // false: all bursts are of one moment, `rate` is 0
};

// Through the bursts of `link` that `chosen` numbers, by time; at least one.
LinkLine fit_line(const ProbeLink& link, std::span<const std::uint32_t> chosen);

}  // namespace jaxprof::clock

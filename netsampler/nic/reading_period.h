// How often each port is read. Reading must cost the node next to nothing, whatever a card's driver takes for it: the
// rate that is wanted is lowered until all readings together take at most a twentieth of the time. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::netsampler {

struct PeriodWish {
  std::uint64_t default_period_ns = 0;  // of its driver
  std::uint64_t reading_ns = 0;         // what a row of its fast columns takes; of all where none is fast
  bool has_fast = false;
  bool is_active = true;  // a port without a link is read once a second
  bool is_read = true;    // false: it has no counters
};

struct Period {
  std::uint64_t fast_ns = 0;  // 0: not read
  std::uint64_t slow_ns = 0;  // of all columns; at least a second
};

struct Periods {
  std::vector<Period> ports;      // one a wish
  std::uint64_t reading_ns = 0;   // of all ports together
  std::uint64_t shortest_ns = 0;  // no period is shorter
  bool is_lowered = false;        // some port is read more seldom than wanted, because reading takes so long
};

// `hz`: wanted for all ports by the user, 0 for each driver's own. `is_half_rate` doubles all periods.
Periods choose_periods(std::span<const PeriodWish> wishes, unsigned hz, bool is_half_rate);

// True if readings that took `before_ns` when periods were chosen take so much more or less that they are to be chosen
// anew.
bool takes_other_time(std::uint64_t before_ns, std::uint64_t now_ns);

// What a reading takes, from a few of them. Where the kernel keeps values for a while, only the first has reached the
// card, and it counts; else the median does. 0 if there are none.
std::uint64_t typical_reading_ns(std::span<const std::uint64_t> readings_ns, bool is_kept_by_kernel);

}  // namespace jaxprof::netsampler

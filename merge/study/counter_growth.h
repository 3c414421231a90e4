// From raw counters to what was counted and how fast. A driver that is loaded anew counts from 0, a counter of 32 bits
// goes round, a saturating one stays at its end, a value may be missing, and the kernel may give out an old one: each
// of these, taken for a difference, is a rate that nobody ever had. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "merge/runfile/counter_table.h"

namespace jaxprof::study {

// By how much the counter grew from `previous` to `now`, in its own steps. None where that is not known: one of them is
// missing, it is a gauge, it went back, or it is saturating and at its end. Of a counter of fewer than 64 bits that
// went back from its upper half the growth is modulo 2^bits.
std::optional<std::uint64_t> counter_growth(const runfile::CounterColumn& column, std::uint64_t previous,
                                            std::uint64_t now);

// Rounded, and held within 64 bits: a damaged file may have any numbers.
std::int64_t whole_number(double value);

// What a counter did over rows of one subject, in the column's unit.
struct Growth {
  std::size_t n_values = 0;         // that were read
  double total = 0;                 // of the intervals whose growth is known
  double time_ns = 0;               // of these intervals
  std::vector<std::int64_t> per_s;  // of each of them whose time is more than 0, rounded
  std::uint64_t resets = 0;         // intervals left out because the counter went back
  bool is_saturated = false;        // at its end in the last value: the total is less than what was

  // Over all of that time; none without time.
  std::optional<double> mean_per_s() const;
};

// Rows [first, last) of `table`. A row with the flag stale holds no reading and is passed over; no interval reaches
// over a row with the flag reset.
// `spans` gets the intervals of that growth besides, by time.
struct GrowthSpan {
  double begin_ns = 0;  // middle of the reading before, on the run's axis
  double end_ns = 0;
  double amount = 0;  // in the column's unit
};
Growth grow(const runfile::CounterTable& table, const runfile::CounterColumn& column, std::uint64_t first,
            std::uint64_t last, std::vector<GrowthSpan>* spans = nullptr);

}  // namespace jaxprof::study

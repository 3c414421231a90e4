// How much a counter grew between two readings, and what a row says against the one before it. A driver that is loaded
// anew counts from 0, a 32-bit counter goes round, a saturating one stays at its end: a difference that ignores this is
// a rate of exabytes a second in somebody's picture. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "netsampler/nic/column.h"

namespace jaxprof::netsampler {

// In the column's raw steps, not scaled. Of counters of less than 64 bits modulo 2^bits, if the earlier value lies in
// their upper half. None where there is no such thing: a value is missing, the counter was reset, it is a gauge, or it
// is saturating and at its end.
std::optional<std::uint64_t> counter_difference(const Column& column, std::uint64_t previous, std::uint64_t now);

// kSampleReset, kSampleWrapped and kSampleSaturated of spool::SampleFlag, over the columns that `now` has, which may be
// the first few. A column that is not known for a counter never makes a reset: it may be a gauge.
std::uint32_t compare_rows(std::span<const Column> columns, std::span<const std::uint64_t> previous,
                           std::span<const std::uint64_t> now);

// True if the row may be what the kernel had kept: it came `elapsed_ns` after the one before, which is less than
// `lifespan_ns`, and nothing in it moved.
bool is_stale(std::span<const std::uint64_t> previous, std::span<const std::uint64_t> now, std::uint64_t elapsed_ns,
              std::uint64_t lifespan_ns);

}  // namespace jaxprof::netsampler

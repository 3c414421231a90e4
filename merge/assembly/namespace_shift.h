// A container may have a time namespace of its own, in which CLOCK_MONOTONIC_RAW is shifted by a constant. Its
// processes' anchors are brought to another namespace's scale by the wall clock, which no namespace shifts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/spool/block.h"
#include "agent/spool/clock_codec.h"

namespace jaxprof::assembly {

// By how many ns the raw clock of `readings` is ahead of the one of `anchors`, on the same node: the median over
// anchors that lie between two readings, or after or before all; within some 50 ns. Nothing without either.
std::optional<std::int64_t> namespace_shift_ns(std::vector<spool::ClockReading> readings,
                                               std::span<const spool::AnchorRecord> anchors);

}  // namespace jaxprof::assembly

// What the kernel says about the wall clock and about what it keeps time with. "NTP runs" must be asked, not assumed: a
// clock that nobody disciplines says so by STA_UNSYNC, and its bound means nothing then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/spool/clock_record.h"

struct timex;

namespace jaxprof::netsampler {

// By adjtimex(2), which changes nothing here; `stamp` goes into the record. Nothing where a container forbids to ask.
std::optional<spool::ClockDisciplineState> read_discipline(std::uint64_t stamp);

// What `answer` says, in the record's units: adjtimex counts in microseconds or nanoseconds (STA_NANO) and in parts of
// 2^-16 ppm.
spool::ClockDisciplineState discipline_of(const timex& answer, std::uint64_t stamp);

// True if the kernel takes the wall clock for synchronised, so that max_error_ns is its bound.
bool is_synchronised(const spool::ClockDisciplineState& discipline);

// "tsc", "arch_sys_counter", "kvm-clock"; "" if the kernel does not tell.
std::string read_clocksource();

}  // namespace jaxprof::netsampler

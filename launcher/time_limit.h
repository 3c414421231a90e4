// When the batch system will end the job, out of what it says: a variable of newer Slurm releases, or a line of
// `scontrol show job -o`. Times are seconds since 1970 UTC, as Slurm counts. Functions from text to values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/env.h"

namespace jaxprof::launcher {

// SLURM_JOB_END_TIME (Slurm 23.02 and newer); nothing where it is not set or no time.
std::optional<std::int64_t> end_time_of(const Env& env);

// EndTime of a job's line (of the first one, where a job has several): seconds, as SLURM_TIME_FORMAT=%s asks for, or
// "2026-11-29T20:35:19" in local time from a Slurm that does not know that variable. Nothing for "Unknown", which is
// what a job without a limit has, and for what is no such line.
std::optional<std::int64_t> parse_end_time(std::string_view show_job);

// How many nodes the step or job has; 1 where nobody says.
std::int64_t node_count(const Env& env);

// "20:35:19", local time.
std::string time_of_day(std::int64_t unix_s);

}  // namespace jaxprof::launcher

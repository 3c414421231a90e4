// T0, when the run's first wrapper was there: what --delay counts from, the same on all nodes, so that time windows of
// all ranks open together. The first wrapper of the run publishes its clock by link(2), every wrapper reads it once
// before it starts its job, and nobody waits for anybody.
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/result.h"

namespace jaxprof::launcher {

// CLOCK_REALTIME in ns: `own_realtime_ns`, if this task is the first to ask. kOutputFailed where it cannot be agreed
// on, and where what lies there is of an earlier run of the same name, which has had its last line.
Result<std::int64_t> agree_on_start_time(const std::string& state_directory, std::int64_t own_realtime_ns);

}  // namespace jaxprof::launcher

// What of this node could be sampled, for `jaxprof doctor` and for scripts: one JSON document. Ports and GPUs as they
// are found and read now, and the lines that the spool would have, so that a missing value has its reason before a job
// runs.
//
//   {"version", "host",
//    "nic": {"ports": [{"name", "port", "driver", "pci", "guid", "netdev", "numa", "source", "reason", "bits_per_s",
//                       "is_active", "hz", "slow_hz", "read_us", "columns": […], "fast_columns"}], "notes": [{"kind",
//                       "text"}]},
//    "gpu": {"boards": [{"name", "uuid", "pci", "driver", "numa", "memory_bytes", "power_limit_mw", "sm_clock_max_mhz",
//                        "is_instance", "is_lost", "columns": […]}], "hz", "notes": […]},
//    "clock": {"interface", "address", "port", "stamps": ["receive", "send"], "hears_itself", "clocksource",
//              "is_wall_known", "is_wall_synchronised", "wall_bound_ns", "notes": […],
//              "meeting": null or {"is_anothers", "n_others", "reason",
//                                  "nodes": [{"host", "address", "n_asked", "n_answered", "round_trip_ns"}]}}}
//
// Numbers that are not known are 0, of NUMA nodes and round trips -1. `source` is netlink, sysfs, netdev or none;
// `stamps` are those that the kernel gives packets, by some that the node sends to itself: if it does not hear them
// none are told. Where a meeting is another's, the report of that process of this node tells of it and of the clock.
#pragma once

#include <cstdint>
#include <string>

#include "netsampler/clock/clock_findings.h"
#include "netsampler/clock/clock_meeting.h"
#include "netsampler/node/node_clock.h"
#include "netsampler/node/sources.h"

namespace jaxprof::netsampler {

// What is null was not asked for, and its part has a note that says so; but for clocks of which another process tells.
struct ProbedParts {
  NicSource* nics = nullptr;
  GpuSource* gpus = nullptr;
  const ClockFindings* clocks = nullptr;
  const ClockMeeting* meeting = nullptr;  // null: there was none
};

// Waits up to `gpu_wait_ns` for the first values of every board.
std::string probe_report(const ProbedParts& parts, const std::string& host, std::uint64_t gpu_wait_ns,
                         NodeClock* clock);

}  // namespace jaxprof::netsampler

// What of this node could be sampled, for `jaxprof doctor` and for scripts: one JSON document. Ports and GPUs as they
// are found and read now, and the lines that the spool would have, so that a missing value has its reason before a job
// runs.
//
//   {"version", "host",
//    "nic": {"ports": [{"name", "port", "driver", "pci", "guid", "netdev", "numa", "source", "reason", "bits_per_s",
//                       "is_active", "hz", "slow_hz", "read_us", "columns": […], "fast_columns"}], "notes": [{"kind",
//                       "text"}]},
//    "gpu": {"boards": [{"name", "uuid", "pci", "driver", "numa", "memory_bytes", "power_limit_mw", "sm_clock_max_mhz",
//                        "is_instance", "is_lost", "columns": […]}], "hz", "notes": […]}}
//
// Numbers that are not known are 0, of NUMA nodes -1. `source` is netlink, sysfs, netdev or none.
#pragma once

#include <cstdint>
#include <string>

#include "netsampler/node/node_clock.h"
#include "netsampler/node/sources.h"

namespace jaxprof::netsampler {

// A source that is null was not asked for, and its part has a note that says so. Waits up to `gpu_wait_ns` for the
// first values of every board.
std::string probe_report(NicSource* nics, GpuSource* gpus, const std::string& host, std::uint64_t gpu_wait_ns,
                         NodeClock* clock);

}  // namespace jaxprof::netsampler

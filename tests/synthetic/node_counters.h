// What the observer of a node sampled in a training job: counters of its ports, and clocks, power and temperature of
// its GPUs, with the columns that the real observer has.
#pragma once

#include <cstdint>

#include "tests/synthetic/run.h"
#include "tests/unit/rundir/node_spool.h"

namespace jaxprof::synthetic {

// `run` has a course. Samples from `begin_ns` to `end_ns`.
void write_counters(const Run& run, std::uint32_t node, std::int64_t begin_ns, std::int64_t end_ns,
                    test::NodeSpool* spool);

}  // namespace jaxprof::synthetic

// What the observer of a node left of clocks: readings of its own, and what the nodes learnt of each other by probes,
// as NodeTimes has them. Delays are those of a local network, the same in both directions but for chance.
#pragma once

#include <cstdint>
#include <string>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

// Writes the spool of the node's observer into the run's state directory. The run ends at `end_ns`.
void write_node_spool(const Run& run, std::uint32_t node, std::int64_t end_ns, const std::string& state_directory);

}  // namespace jaxprof::synthetic

// What the observer of a node left: of clocks, readings of its own and what the nodes learnt of each other by probes,
// as NodeTimes has them; of a training job with counters, the samples of its ports and GPUs. Delays are those of a
// local network unless the plan says otherwise, the same in both directions but for chance and for a crooked node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

// Nodes that have an observer: those of a rank that is recorded.
std::vector<std::uint32_t> observed_nodes(const RunPlan& plan);

// Writes the spool of the node's observer into the run's state directory. The run ends at `end_ns`.
void write_node_spool(const Run& run, std::uint32_t node, std::int64_t end_ns, const std::string& state_directory);

}  // namespace jaxprof::synthetic

// The times in which a node's clock runs undisturbed, and the links between them. What one model may describe is an era
// of a node and not a node: where a clock jumped, or its rate changed with its source, an era ends and another begins.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/coarse_clock.h"
#include "merge/clock/link_jumps.h"
#include "merge/clock/node_cuts.h"

namespace jaxprof::clock {

struct Eras {
  std::vector<std::uint32_t> first;            // by node: its first era; and one past the last node's
  std::vector<std::uint32_t> node;             // by era
  std::vector<Edge> edges;                     // by link and time
  std::vector<std::vector<bool>> is_rejected;  // by link and burst: bad, or in a cut

  std::size_t size() const { return node.size(); }
};

// `cuts` by node and time.
Eras divide(std::uint32_t node_count, const std::vector<ProbeLink>& links, const std::vector<LinkJumps>& jumps,
            const std::vector<NodeCut>& cuts);

}  // namespace jaxprof::clock

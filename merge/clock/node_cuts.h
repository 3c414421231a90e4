// Which node's clock it was that jumped. A jump shows on a link between two nodes and could be either's; but a clock
// that jumps does so against all others at once. So the node is blamed on whose links most of the jumps show that it
// would explain, one after the other until what is left is of single links, which is no clock's jump. With two nodes
// alone nobody can tell, and the one that is not the reference is named.
// A cut is a time in which a node's clock may have jumped or changed its rate; no model goes across it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/clock/clock_solution.h"
#include "merge/clock/link_jumps.h"
#include "merge/clock/probe_link.h"

namespace jaxprof::clock {

struct NodeCut {
  std::uint32_t node = 0;
  std::int64_t before_ns = 0;  // by the node's clock: the last instant that is surely before it,
  std::int64_t after_ns = 0;   // and the first surely after
  double size_ns = 0;          // of the node's clock; 0: only its rate, or not seen
  StepKind kind = StepKind::kRawJump;
  bool is_own = true;  // false: it was the reference that jumped, and with it everything that is measured by it
};

// By node and time, and not overlapping. `jumps[i]` are of `links[i]`.
std::vector<NodeCut> find_cuts(std::uint32_t node_count, std::uint32_t reference, const std::vector<ProbeLink>& links,
                               const std::vector<LinkJumps>& jumps, std::span<const SourceChange> changes);

}  // namespace jaxprof::clock

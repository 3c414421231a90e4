#include "tests/synthetic/communicators.h"

#include <algorithm>

#include "tests/simulator/sim_random.h"

namespace jaxprof::synthetic {

Comm comm_of(const RunPlan& plan, CommKind kind, std::uint32_t rank) {
  Comm comm{kind, 0, plan.processes, 0};
  if (kind == CommKind::kNode) {
    comm.first = plan.node_of(rank) * plan.ranks_per_node;
    comm.size = std::min(plan.ranks_per_node, plan.processes - comm.first);
    if (plan.node_count() == 1) comm.size = 0;  // it would be the world again
  } else if (kind == CommKind::kPair) {
    comm.first = rank / 2 * 2;
    comm.size = plan.processes > 2 ? std::min(2U, plan.processes - comm.first) : 0;
  } else if (kind == CommKind::kRail) {
    comm.first = rank % plan.ranks_per_node;
    comm.stride = plan.ranks_per_node;
    comm.size = (plan.processes - comm.first + comm.stride - 1) / comm.stride;
  }
  const std::uint64_t place = static_cast<std::uint64_t>(kind) << 32 | comm.first;
  comm.hash = test::mix(plan.seed ^ 0xc0117ULL, place) | 1;
  return comm;
}

const char* name_of(CommKind kind) {
  switch (kind) {
    case CommKind::kWorld:
      return "world";
    case CommKind::kNode:
      return "node";
    case CommKind::kRail:
      return "rail";
    case CommKind::kPair:
      break;
  }
  return "pair";
}

}  // namespace jaxprof::synthetic

#include "tests/synthetic/run_plan.h"

#include <set>

namespace jaxprof::synthetic {

Status check(const RunPlan& plan) {
  if (plan.processes == 0 || plan.ranks_per_node == 0) return fail(ErrorCode::kUsage, "a run has processes");
  if (plan.calls > 0 && plan.processes < 2) {
    return fail(ErrorCode::kUsage, "--nccl needs two processes: a communicator of one has nobody to call");
  }
  std::set<std::uint32_t> ranks;
  for (const Fault& fault : plan.faults) {
    if (fault.rank >= plan.processes) {
      return fail(ErrorCode::kUsage, "a fault names rank " + std::to_string(fault.rank) + " of a run of " +
                                         std::to_string(plan.processes) + " processes");
    }
    if (fault.kind == FaultKind::kLateStep && !plan.has_plugin()) {
      return fail(ErrorCode::kUsage, "late-step needs NCCL's plugin: who is which member is told by ranges of step 0");
    }
    if (!ranks.insert(fault.rank).second) {
      return fail(ErrorCode::kUsage, "rank " + std::to_string(fault.rank) + " has two faults");
    }
  }
  return {};
}

}  // namespace jaxprof::synthetic

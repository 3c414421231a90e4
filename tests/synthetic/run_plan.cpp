#include "tests/synthetic/run_plan.h"

#include <cstddef>
#include <set>

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kShortestPeriodNs = 1'000'000;
constexpr std::int64_t kShortestStepNs = 200'000;

bool has_place(const RunPlan& plan, const Slowdown& slowdown) {
  switch (slowdown.where) {
    case Slowdown::Where::kNetwork:
      return plan.node_count() > 1;
    case Slowdown::Where::kNode:
      return slowdown.number < plan.node_count();
    case Slowdown::Where::kPort:
      return slowdown.number < plan.node_count() && plan.node_count() > 1 && slowdown.port < kPortsOfNode;
    default:
      return slowdown.number < plan.processes;
  }
}

Status check_training(const RunPlan& plan) {
  const TrainingPlan& training = *plan.training;
  const auto bad = [](const std::string& why) { return fail(ErrorCode::kUsage, "--training " + why); };
  if (plan.kernels + plan.calls + plan.ranges > 0)
    return bad("tells how large the run is: no --kernels, --nccl, --nvtx");
  if (plan.processes < 2 || plan.steps == 0) return bad("needs two processes and a step");
  if (plan.processes % plan.ranks_per_node != 0) return bad("needs as many ranks on each node");
  if (training.comms != TrainingComms::kWorld && (plan.node_count() < 2 || plan.ranks_per_node < 2)) {
    return bad("needs two nodes with two ranks each for communicators of less than all ranks");
  }
  if (training.step_ns < kShortestStepNs) return bad("needs steps of 200 microseconds and more");
  std::size_t fault_offset = 0;
  if (!training.ranks.empty() && !check_number_list(training.ranks.c_str(), &fault_offset)) {
    return fail(ErrorCode::kUsage, "--ranks " + training.ranks + " is no list of ranks");
  }
  for (const Slowdown& slowdown : training.slowdowns) {
    if (!has_place(plan, slowdown)) return bad("has no such place for a slowdown");
  }
  for (const Fault& fault : plan.faults) {
    const bool can = fault.kind == FaultKind::kMissing || fault.kind == FaultKind::kDuplicate ||
                     fault.kind == FaultKind::kLose || fault.kind == FaultKind::kLateStep;
    if (!can) return bad("can have the faults missing, duplicate, lose and late-step");
  }
  return {};
}

}  // namespace

Status check(const RunPlan& plan) {
  if (plan.processes == 0 || plan.ranks_per_node == 0) return fail(ErrorCode::kUsage, "a run has processes");
  if (plan.calls > 0 && plan.processes < 2) {
    return fail(ErrorCode::kUsage, "--nccl needs two processes: a communicator of one has nobody to call");
  }
  if (plan.has_counters && !plan.training) return fail(ErrorCode::kUsage, "--counters are of a --training");
  if (plan.counter_period_ns < kShortestPeriodNs)
    return fail(ErrorCode::kUsage, "samples come once a millisecond at most");
  if (plan.crooked_ns != 0 && plan.crooked_node >= plan.node_count()) {
    return fail(ErrorCode::kUsage, "there is no node " + std::to_string(plan.crooked_node));
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
  return plan.training ? check_training(plan) : Status{};
}

}  // namespace jaxprof::synthetic

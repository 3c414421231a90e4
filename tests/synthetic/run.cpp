#include "tests/synthetic/run.h"

#include <algorithm>

namespace jaxprof::synthetic {

Result<Run> Run::prepare(const RunPlan& plan) {
  if (const auto can = check(plan); !can) return tl::unexpected(can.error());
  Run run(plan);
  for (const Fault& fault : plan.faults) {
    auto changes = plan.training ? CallChanges{} : changes_of(plan, run.size_, fault);
    if (!changes) return tl::unexpected(changes.error());
    const std::uint32_t steps = plan.training ? plan.steps : run.size_.steps;
    if (fault.kind == FaultKind::kLateStep && steps < 2) {
      return fail(ErrorCode::kUsage, "late-step needs two steps: ask for them with --nvtx and --steps");
    }
    run.faults_.push_back({fault, std::move(*changes)});
    run.latest_ns_ = std::max(run.latest_ns_, fault.late_ns);
  }
  std::sort(run.faults_.begin(), run.faults_.end(),
            [](const FaultyRank& a, const FaultyRank& b) { return a.fault.rank < b.fault.rank; });
  run.times_ = NodeTimes(plan);
  if (plan.training) run.course_ = std::make_shared<const TrainingCourse>(plan, run.mix_);
  return run;
}

const FaultyRank* Run::fault_of(std::uint32_t rank) const {
  const auto found = std::lower_bound(faults_.begin(), faults_.end(), rank,
                                      [](const FaultyRank& faulty, std::uint32_t r) { return faulty.fault.rank < r; });
  return found != faults_.end() && found->fault.rank == rank ? &*found : nullptr;
}

bool Run::has_fault(std::uint32_t rank, FaultKind kind) const {
  const FaultyRank* faulty = fault_of(rank);
  return faulty != nullptr && faulty->fault.kind == kind;
}

std::span<const FaultyRank> Run::faults_in(const Comm& comm) const {
  const auto by_rank = [](const FaultyRank& faulty, std::uint32_t r) { return faulty.fault.rank < r; };
  const auto first = std::lower_bound(faults_.begin(), faults_.end(), comm.first, by_rank);
  const auto last = std::lower_bound(first, faults_.end(), comm.first + comm.size, by_rank);
  return {first, last};
}

bool Run::records_slot(std::uint32_t rank, const Slot& slot) const {
  const FaultyRank* faulty = fault_of(rank);
  if (faulty == nullptr) return true;
  switch (faulty->fault.kind) {
    case FaultKind::kMissing:
      return false;
    case FaultKind::kTorn:
      return slot.index < torn_slot();
    case FaultKind::kLateStep:
      return slot.step >= 1;
    default:
      return true;
  }
}

bool Run::records(std::uint32_t rank, const Slot& slot) const {
  if (!records_slot(rank, slot)) return false;
  const FaultyRank* faulty = fault_of(rank);
  if (faulty == nullptr) return true;
  const auto change = faulty->changes.find(slot.unit_index);
  return change == faulty->changes.end() || !(change->second.is_omitted || change->second.is_unrecorded);
}

}  // namespace jaxprof::synthetic

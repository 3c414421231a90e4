#include "tests/synthetic/training_record.h"

namespace jaxprof::synthetic {

bool has_spool(const Run& run, std::uint32_t rank) {
  const bool is_traced = !run.plan().training || run.plan().training->is_traced(rank);
  return is_traced && !run.has_fault(rank, FaultKind::kMissing);
}

std::uint32_t first_recorded_step(const Run& run, std::uint32_t rank) {
  return run.has_fault(rank, FaultKind::kLateStep) ? 1 : 0;
}

bool is_recorded(const Run& run, std::uint32_t rank, std::uint32_t step, std::uint32_t unit) {
  if (!has_spool(run, rank) || step < first_recorded_step(run, rank)) return false;
  // The gradients' collective in the middle of the run.
  const bool is_lost_one = step == run.course()->steps() / 2 && unit + 1 == run.course()->units().size();
  return !(is_lost_one && run.has_fault(rank, FaultKind::kLose));
}

bool is_recorded_whole(const Run& run, const CourseInstance& instance) {
  for (std::uint32_t i = 0; i < instance.comm.size; ++i) {
    if (!is_recorded(run, instance.comm.member(i), instance.step, instance.unit)) return false;
  }
  return true;
}

}  // namespace jaxprof::synthetic

// A plan and all that follows from it for every rank: sizes, kernels, faults and what they change. Read by many threads
// at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tests/synthetic/faulty_calls.h"
#include "tests/synthetic/node_times.h"
#include "tests/synthetic/training_course.h"

namespace jaxprof::synthetic {

struct FaultyRank {
  Fault fault;
  CallChanges changes;
};

class Run {
 public:
  static Result<Run> prepare(const RunPlan& plan);

  const RunPlan& plan() const { return plan_; }
  const TimelineSize& size() const { return size_; }
  const KernelMix& mix() const { return mix_; }
  const NodeTimes& times() const { return times_; }
  // Null unless the plan is a training, which has a course and no timeline.
  const TrainingCourse* course() const { return course_.get(); }
  Timeline timeline() const { return {plan_, size_, mix_, latest_ns_}; }

  // Null for a sound rank.
  const FaultyRank* fault_of(std::uint32_t rank) const;
  // Of the members of `comm`, by rank.
  std::span<const FaultyRank> faults_in(const Comm& comm) const;
  bool has_fault(std::uint32_t rank, FaultKind kind) const;
  // Is the call of this unit in the rank's spool?
  bool records(std::uint32_t rank, const Slot& slot) const;
  // Has the rank's spool anything of this slot?
  bool records_slot(std::uint32_t rank, const Slot& slot) const;
  // The slot in which a torn spool ends.
  std::uint64_t torn_slot() const { return size_.slots * 6 / 10; }

 private:
  explicit Run(const RunPlan& plan) : plan_(plan), size_(size_of(plan)), mix_(plan.seed) {}

  RunPlan plan_;
  TimelineSize size_;
  KernelMix mix_;
  NodeTimes times_;
  std::vector<FaultyRank> faults_;  // by rank
  std::int64_t latest_ns_ = 0;
  std::shared_ptr<const TrainingCourse> course_;
};

}  // namespace jaxprof::synthetic

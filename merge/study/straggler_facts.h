// All that is known of who holds a run back, before anything is said of it: fault by step and GPU, what each did with
// its own time, which transfers were slow, and, step by step, who or what it was.
#pragma once

#include <memory>
#include <vector>

#include "merge/study/fault.h"
#include "merge/study/gpu_evidence.h"
#include "merge/study/own_time.h"
#include "merge/study/port_evidence.h"
#include "merge/study/slow_transfers.h"
#include "merge/study/straggler_level.h"

namespace jaxprof::study {

// Shares of all GPU time, imposed on others: below the first nothing is said, above the others it is grave.
inline constexpr double kWorthAWord = 0.02;
inline constexpr double kBadStep = 0.05;
inline constexpr double kWarningImpact = 0.10;
inline constexpr double kCriticalImpact = 0.20;

// What held one step, or the whole scope, back.
struct Judgement {
  std::uint32_t step = 0;        // position in StepAxis::steps()
  std::int64_t length_ns = 0;    // of the step or scope
  Level level = Level::kNone;    // kNone: nobody and nothing worth a word
  Culprit culprit;               // who has most fault, whatever the level
  NamedCause cause;              // of the level
  double impact = 0;             // of the level: share of all GPU time that others waited for it
  double share = 0;              // of all fault and slow transfers
  std::optional<SlowPort> port;  // of level kNic
  std::int64_t network_ns = 0;   // what slow transfers cost, times members
  std::int64_t wait_ns = 0;      // of all members
  bool is_certain = false;       // more than half of the fault is where clocks cannot be wrong
  std::uint32_t n_resolved = 0;  // instances
  std::uint32_t n_instances = 0;
};

class StragglerFacts {
 public:
  // Without a reader, kernels and copies are those of `run`. kInputUnreadable.
  static Result<StragglerFacts> gather(const runfile::RunTables& run, const runfile::RunFileReader* reader,
                                       const StudyOptions& options);

  const Scope& scope() const { return *scope_; }
  const Arrivals& arrivals() const { return *arrivals_; }
  const Judged& judged() const { return judged_; }
  const Subjects& units() const { return *units_; }  // members of communicators
  const Subjects& lanes() const { return *lanes_; }  // GPUs
  const Fault& fault() const { return fault_; }
  const OwnTime& own() const { return own_; }
  const std::vector<CauseSplit>& excess() const { return excess_; }  // [step, lane]
  const std::vector<std::uint32_t>& lane_of_unit() const { return lane_of_unit_; }

  const std::vector<std::uint32_t>& steps() const { return steps_; }  // that were asked for; {0} without steps
  std::int64_t lane_fault_ns(std::size_t step, std::size_t lane) const {
    return lane_fault_ns_[step * lanes_->size() + lane];
  }
  std::int64_t length_ns() const { return length_ns_; }  // of the scope, a GPU
  std::int64_t gpu_time_ns() const;                      // of all GPUs in it

  const std::vector<Judgement>& by_step() const { return by_step_; }  // as steps()
  const Judgement& of_scope() const { return of_scope_; }
  const PortEvidence& slow_ports() const { return slow_ports_; }  // in steps with slow transfers; without such, in all
  double network_share() const { return network_share_; }         // of all GPU time, in transfers between nodes

 private:
  StragglerFacts() = default;
  void sum_lanes();
  void measure_scope(const runfile::RunTables& run);
  void look_at_ports(const runfile::RunTables& run);
  Judgement judge(const std::vector<std::uint32_t>& steps, std::int64_t length_ns) const;
  void judge_all();

  std::unique_ptr<Scope> scope_;
  std::unique_ptr<Arrivals> arrivals_;
  std::unique_ptr<Subjects> units_, lanes_;
  Judged judged_;
  Fault fault_;
  OwnTime own_;
  SlowTransfers transfers_;
  std::vector<CauseSplit> excess_;
  std::vector<std::uint32_t> lane_of_unit_;
  std::vector<std::int64_t> lane_fault_ns_;
  std::vector<std::int64_t> certain_ns_, wait_ns_;       // [step]
  std::vector<std::uint32_t> n_resolved_, n_instances_;  // [step]
  std::vector<std::uint32_t> steps_;
  std::int64_t length_ns_ = 0;
  std::vector<Judgement> by_step_;
  Judgement of_scope_;
  PortEvidence slow_ports_;
  PortEvidence usual_ports_;  // in the other steps
  double network_share_ = 0;
};

bool straggler_facts_want(std::string_view path);

// The stretches of the run in which these steps are; all of the scope for {0} of a run without steps.
Intervals when_of(const StragglerFacts& facts, const std::vector<std::uint32_t>& steps);

}  // namespace jaxprof::study

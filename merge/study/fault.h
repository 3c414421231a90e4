// Whose lateness it was in the end. A rank that another communicator kept waiting comes late to the next collective
// without any fault of its own; blame alone would put it beside the one that started it. So each share of blame is
// followed back: the part that the member's own time explains stays with it, the rest goes to those who were to blame
// for the operation that it came from, and what that operation's transfer took too long for, to the network. Nothing is
// lost on the way: fault and transfers sum up to blame, and blame to what was waited.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/arrivals.h"
#include "merge/study/member_lateness.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {

// Sums over resolved, synchronizing instances that are judged, ns; [step, unit] at step * n_units + unit, where a unit
// is a member of a communicator (Subjects by kMember) and a step a position in StepAxis::steps(), or 0 without steps.
struct Fault {
  std::size_t n_steps = 0;
  std::size_t n_units = 0;
  std::vector<std::int64_t> wait_ns;       // what it waited
  std::vector<std::int64_t> blame_ns;      // what others waited for it
  std::vector<std::int64_t> fault_ns;      // what others waited by its doing, there and elsewhere
  std::vector<std::int64_t> certain_ns;    // of that, where arrivals are farther apart than clocks can be wrong
  std::vector<std::int64_t> transfers_ns;  // [step] what nobody but transfers before it made others wait
  // Alone and unfollowed: what TraceLens and others give the last one.
  std::vector<std::int64_t> last_only_ns;  // [unit]
  // [unit] instances in which it was, in which it was last; of them those that are certain.
  std::vector<std::int64_t> n_instances, n_last, n_last_certain;
  MemberLateness lateness;  // of resolved instances, asked for or not
  std::int64_t removable_ns = 0;
  std::size_t n_resolved = 0;    // instances in these sums
  std::size_t n_unresolved = 0;  // left out, since nobody can be blamed
  std::size_t n_rooted = 0;      // left out: Broadcasts and the like, in which early members do not wait

  std::int64_t total(const std::vector<std::int64_t>& sums, std::size_t unit) const;  // over steps
};

// `units` are `arrivals`' by kMember; `over_usual_ns` by instance, how much longer than usual its transfer took;
// `n_lanes` GPUs take part in collectives.
Fault trace_fault(const Arrivals& arrivals, const Judged& judged, const Subjects& units,
                  const std::vector<std::int64_t>& over_usual_ns, std::size_t n_lanes, std::size_t n_steps);

}  // namespace jaxprof::study

// The run once more, with other times: what would the job's time be if one rank were like the others? The model is that
// of Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025), on collectives
// alone: a member arrives its own time after its previous operation ended; an operation begins to move data when its
// last member arrives; it ends on each member some transfer time later. A Broadcast, which lets members leave early,
// makes nobody wait.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/arrivals.h"

namespace jaxprof::study {

// Which of the measured times are replaced by those of a job without stragglers.
struct Alternative {
  std::vector<std::uint8_t> is_alike;  // [processes]: own times become the mean of the instance's members
  bool has_alike_transfers = false;    // transfer times become the median of their kind
};

// Read-only after construction: run() may be called by several threads.
class Replay {
 public:
  // Of the instances with is_counted, one value an instance. `run` gives operation and size of each.
  Replay(const runfile::RunTables& run, const Scope& scope, const Arrivals& arrivals,
         const std::vector<std::uint8_t>& is_counted);

  std::size_t n_processes() const { return excess_ns_.size(); }
  std::size_t n_instances() const { return member_offset_.size() - 1; }
  // What the instances took as they were recorded: from step to step, from the last end of one to that of the next; in
  // a run without steps from the first arrival to the last end.
  std::int64_t measured_ns() const { return measured_ns_; }
  // By how much the process's own times exceed the mean of the other members', where they do; summed.
  const std::vector<std::int64_t>& excess_ns() const { return excess_ns_; }
  // The job's time with that alternative; with none, measured_ns() if the model fits.
  std::int64_t run(const Alternative& alternative) const;

 private:
  struct Times;
  void take_members(const Arrivals& arrivals, const Scope& scope, const std::vector<std::size_t>& order);
  void take_transfers(const runfile::RunTables& run, const Arrivals& arrivals, const std::vector<std::size_t>& order);
  void take_own_times();
  std::int64_t length_of(const std::vector<std::int64_t>& step_end_ns) const;

  // Instances in the order of their first arrivals.
  std::vector<std::size_t> member_offset_{0};
  std::vector<std::uint32_t> step_;              // [instances]: position in steps_
  std::vector<std::uint8_t> makes_wait_;         // [instances]
  std::vector<std::int64_t> alike_own_ns_;       // [instances]: mean of its members' own times
  std::vector<std::int64_t> alike_transfer_ns_;  // [instances]: median of its kind
  // Members.
  std::vector<std::uint32_t> process_;
  std::vector<std::uint32_t> previous_;    // position of a member; kNoMember: begins at base_ns_
  std::vector<std::int64_t> base_ns_;      // where the own time begins, if nothing was before
  std::vector<std::int64_t> own_ns_;       // from there, or from the previous operation's end, to the arrival
  std::vector<std::int64_t> transfer_ns_;  // from the last arrival to its end, of a Broadcast from its own
  std::vector<std::int64_t> end_ns_;       // as recorded
  // Steps with instances, in order.
  struct Step {
    std::int32_t index = 0;     // of the scope's axis, 0 without steps
    std::int64_t begin_ns = 0;  // where it begins if the one before is not asked for
    bool follows = false;       // the one before is: it begins at that one's last end
  };
  std::vector<Step> steps_;
  std::vector<std::int64_t> excess_ns_;  // [processes]
  std::int64_t measured_ns_ = 0;
};

}  // namespace jaxprof::study

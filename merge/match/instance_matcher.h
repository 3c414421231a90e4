// Which calls of different processes are one, for runs of any length. Calls are taken in any order, are sorted by what
// they are known by (on disk if they are many), and come out as instances in the order of /collectives and /transfers:
// a collective by its communicator, its function and its number on the two, of a captured one also by which capture and
// replay it was; a send and its receive by communicator, source, destination and number among those. A call that nobody
// else made, or that some made with another size, is kept and marked; nothing is shifted to make calls fit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/match/call_record.h"
#include "merge/match/clock_errors.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::match {

// What matching knows of a run besides its calls.
struct MatchFacts {
  std::vector<std::uint32_t> rank_count;  // by communicator; kNoIndex: not known, then the members seen count
  std::vector<std::uint32_t> node;        // by process
  std::vector<bool> opened_by_time;       // by process: its replays are not numbered as others' are
  std::vector<bool> has_lost_gpu_work;    // by process: a lost replay would shift the rest
  const ClockErrors* clocks = nullptr;    // on the axis of the records' times; null: nothing is known of them
};

struct UnmatchedCalls {
  std::uint64_t without_communicator = 0;  // NVTX of NCCL before 2.25, or its registration was lost
  std::uint64_t without_sequence = 0;      // calls that the plugin did not enqueue, beside ones that it did
  std::uint64_t repeated = 0;              // a second call of a member under the same number (graph replays)
  std::uint64_t unnumbered_replays = 0;    // of processes whose window opened by time: it may have been another replay
  std::uint64_t replays_after_losses = 0;  // of processes that lost GPU records: which replay it was is not known
};

// Sends and receives that are in no row of /transfers.
struct UnmatchedTransfers {
  std::uint64_t unnumbered =
      0;  // NVTX does not number them (before 2.25, several members a process), or a rank is unknown
  std::uint64_t repeated = 0;  // a second one of a member under the same number
  std::uint64_t replays = 0;   // of processes whose window opened by time, or that lost GPU records
};

// A stretch of instances; `calls` are the members' records, [first_member[i], first_member[i + 1]) are those of row i,
// in the order of event_row.
struct InstanceBatch {
  runfile::CollectiveTable collectives;
  std::vector<CallRecord> calls;
  std::vector<std::uint64_t> first_member{0};  // within the batch
};

class InstanceMatcher {
 public:
  // `budget_bytes` bounds the memory of records; the members of one instance and a batch come on top. `folder` is where
  // scratch files may lie.
  InstanceMatcher(MatchFacts facts, std::string folder, std::size_t budget_bytes);
  ~InstanceMatcher();

  Status add(const CallRecord& call);

  // Instances, some thousands at a time, in the order of /collectives; once, after the last add(). Stops at the first
  // failure of `take`.
  Result<UnmatchedCalls> match_collectives(const std::function<Status(const InstanceBatch&)>& take);
  // The same of sends and receives, in the order of /transfers. After match_collectives.
  Result<UnmatchedTransfers> match_transfers(const std::function<Status(const runfile::TransferTable&)>& take);

  // After both: of rows [0, row_count) of /events/nccl in order, the row of /collectives, or of /transfers; kNoRow:
  // none.
  Status for_each_instance(std::uint64_t row_count, const std::function<Status(std::span<const std::uint64_t>)>& take);
  Status for_each_transfer(std::uint64_t row_count, const std::function<Status(std::span<const std::uint64_t>)>& take);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jaxprof::match

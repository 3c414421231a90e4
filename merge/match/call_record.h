// What matching has to know of one row of /events/nccl. Rows of a long run do not fit into memory; these are less than
// half of them, are sorted on disk (merge/scratch), and are all that instances are made from.
#pragma once

#include <cstdint>
#include <type_traits>

#include "merge/runfile/enums.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::match {

// Times and missing values are those of the columns of the same names.
struct CallRecord {
  std::uint64_t row = 0;                    // of /events/nccl
  std::uint64_t seq = runfile::kNoRow;      // of a part, that of its whole call
  std::uint64_t capture = runfile::kNoRow;  // the same
  std::uint64_t replay = runfile::kNoRow;
  std::uint64_t size_bytes = runfile::kNoRow;
  // The how many-th call of its member on the communicator that has a number, by time, from 0; kNoRow for calls without
  // `seq`, captured calls, their replays, sends, receives and parts of calls, none of which count.
  std::uint64_t order = runfile::kNoRow;
  std::int64_t enqueue_ns = runfile::kNoTime;
  std::int64_t gpu_start_ns = runfile::kNoTime;
  std::int64_t gpu_dur_ns = runfile::kNoTime;
  std::uint32_t comm = runfile::kNoIndex;
  std::uint32_t process = runfile::kNoIndex;
  std::int32_t comm_rank = -1;
  std::int32_t peer = -1;
  std::int32_t root = -1;
  std::uint32_t calls_in_plan = 0;  // that shared its kernel; 0: not known
  runfile::Coll coll = runfile::Coll::kMissing;
  runfile::Dtype dtype = runfile::Dtype::kMissing;
  runfile::Redop redop = runfile::Redop::kMissing;
  runfile::Algo algo = runfile::Algo::kMissing;
  runfile::Proto proto = runfile::Proto::kMissing;
  bool is_part = false;                           // of a call: its parent's row is the call
  runfile::Coll whole = runfile::Coll::kMissing;  // operation of the call that it is a part of
};
static_assert(std::is_trivially_copyable_v<CallRecord> && sizeof(CallRecord) <= 104);

}  // namespace jaxprof::match

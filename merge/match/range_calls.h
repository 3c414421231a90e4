// What NCCL's NVTX ranges tell of its calls: a range around each API function is a call, and those between
// ncclGroupStart and its ncclGroupEnd on one thread are an explicit group, which NCCL launches where the outermost
// group ends. Ranges around making and ending a communicator tell of its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "merge/match/comm_members.h"
#include "merge/match/nccl_calls.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/match/payload.h"
#include "merge/match/stretches.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

// The outermost ncclGroupEnd of an explicit group. Stamps as in NcclCall.
struct GroupEnd {
  std::uint64_t group = 0;  // NcclCall::group
  std::uint64_t start = 0;
  std::uint64_t end = 0;  // where it was not recorded, when the thread was out of it; UINT64_MAX: nothing tells that
  bool has_end = false;
};

class RangeCalls {
 public:
  // Takes the ranges of NCCL's domain. Calls are appended to `calls`, which is empty, communicators told to `members`.
  // `trace` is borrowed.
  RangeCalls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, CommMembers* members,
             std::vector<NcclCall>* calls);

  // The call whose range was open on `thread` at `stamp`; kNoCall if there is none. Ranges of one thread do not overlap
  // unless they nest, and then the outer one is the call that the user made. Fast for stamps that rise.
  std::size_t around(std::uint32_t thread, std::uint64_t stamp);
  // The end of an explicit group that was open on `thread` at `stamp`; null if there is none.
  const GroupEnd* group_end_around(std::uint32_t thread, std::uint64_t stamp);
  // Null if the group's end was not recorded.
  const GroupEnd* group_end(std::uint64_t group) const;
  // Explicit groups, numbered from 1.
  std::uint64_t group_count() const { return end_of_group_.size() - 1; }
  // NvtxRange::call_ordinal of each call; 0: it has none.
  const std::vector<std::uint64_t>& ordinals() const { return ordinals_; }

 private:
  struct Span {
    std::uint64_t start;
    std::uint64_t end;
    std::size_t call;
  };
  struct Thread {
    Stretches<Span> calls;
    Stretches<GroupEnd> group_ends;
    std::uint64_t open_group = 0;  // the explicit group that it has open
    std::uint32_t depth = 0;       // of that; 0: it has none
  };
  // What a message of NCCL's domain says.
  struct Word {
    std::string_view api;
    std::optional<runfile::Coll> coll;  // nothing: it moves no data
    bool begins_group = false;
    bool ends_group = false;
  };

  bool is_nccl(std::uint32_t domain);
  const Word& word_of(spool::StringId message);
  Thread& thread_of(std::uint32_t number);
  std::span<const PayloadField> payload_of(const NvtxRange& range);
  void take(const NvtxRange& range, CommMembers* members, std::vector<NcclCall>* calls);
  void end_group(const NvtxRange& range, Thread* thread);

  const rundir::SpoolTrace& trace_;
  PayloadReader payloads_;
  std::vector<PayloadField> fields_;  // of the range at hand
  std::unordered_map<std::uint32_t, bool> is_nccl_;
  std::unordered_map<spool::StringId, Word> words_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint32_t last_number_ = 0;
  Thread* last_thread_ = nullptr;        // of last_number_
  std::vector<GroupEnd> end_of_group_;   // by number; of group 0: it was not recorded
  std::vector<std::uint64_t> ordinals_;  // by call
};

}  // namespace jaxprof::match

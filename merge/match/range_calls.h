// What NCCL's NVTX ranges tell of its calls: a range around each API function is a call, and those between
// ncclGroupStart and its ncclGroupEnd on one thread are an explicit group, which NCCL launches where the outermost
// group ends. Ranges around making and ending a communicator tell of its members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "merge/match/comm_members.h"
#include "merge/match/nccl_calls.h"
#include "merge/match/nvtx_ranges.h"
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
  // Takes the ranges of NCCL's domain. Calls are appended to `calls`, communicators told to `members`.
  RangeCalls(const rundir::SpoolTrace& trace, const NvtxRanges& ranges, CommMembers* members,
             std::vector<NcclCall>* calls);

  // The call whose range was open on `thread` at `stamp`; kNoCall if there is none. Ranges of one thread do not overlap
  // unless they nest, and then the outer one is the call that the user made.
  std::size_t around(std::uint32_t thread, std::uint64_t stamp) const;
  // The end of an explicit group that was open on `thread` at `stamp`; null if there is none.
  const GroupEnd* group_end_around(std::uint32_t thread, std::uint64_t stamp) const;
  // Null if the group's end was not recorded.
  const GroupEnd* group_end(std::uint64_t group) const;
  // Explicit groups, numbered from 1.
  std::uint64_t group_count() const { return group_count_; }
  // NvtxRange::call_ordinal of the calls that have one, by their place in `calls`.
  const std::map<std::size_t, std::uint64_t>& ordinals() const { return ordinals_; }

 private:
  struct Span {
    std::uint64_t start;
    std::uint64_t end;
    std::size_t call;
  };
  // The explicit group that a thread has open.
  struct OpenGroup {
    std::uint64_t number = 0;
    std::uint32_t depth = 0;
  };

  void take(const NvtxRange& range, std::string_view api, CommMembers* members, std::vector<NcclCall>* calls);

  std::map<std::uint32_t, std::vector<Span>> spans_;          // by thread, by start
  std::map<std::uint32_t, OpenGroup> open_groups_;            // by thread
  std::map<std::uint32_t, std::vector<GroupEnd>> ends_;       // by thread, by start
  std::unordered_map<std::uint64_t, GroupEnd> end_of_group_;  // by number
  std::map<std::size_t, std::uint64_t> ordinals_;
  std::uint64_t group_count_ = 0;
};

}  // namespace jaxprof::match

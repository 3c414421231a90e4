#include "merge/match/call_records.h"

#include <map>
#include <utility>

#include "merge/match/nccl_words.h"

namespace jaxprof::match {
namespace {

// Of a part, the number of its whole call counts.
CallRecord record_of(const runfile::NcclTable& calls, std::size_t row, std::uint64_t base) {
  CallRecord call;
  call.row = base + row;
  call.replay = calls.replay[row];
  call.size_bytes = calls.size_bytes[row];
  call.enqueue_ns = calls.enqueue_ns[row];
  call.gpu_start_ns = calls.gpu_start_ns[row];
  call.gpu_dur_ns = calls.gpu_dur_ns[row];
  call.comm = calls.comm[row];
  call.comm_rank = calls.comm_rank[row];
  call.peer = calls.peer[row];
  call.root = calls.root[row];
  call.coll = calls.coll[row];
  call.dtype = calls.dtype[row];
  call.redop = calls.redop[row];
  call.algo = calls.algo[row];
  call.proto = calls.proto[row];
  const std::uint64_t parent = calls.parent[row];
  call.is_part = parent != runfile::kNoRow;
  const std::size_t numbered = call.is_part ? parent - base : row;
  call.seq = calls.seq[numbered];
  call.capture = calls.capture[numbered];
  if (call.is_part) call.whole = calls.coll[numbered];
  return call;
}

bool is_in_order(const CallRecord& call) {
  return !call.is_part && !is_point_to_point(call.coll) && call.capture == runfile::kNoRow &&
         call.replay == runfile::kNoRow && call.comm != runfile::kNoIndex && call.seq != runfile::kNoRow;
}

}  // namespace

Status for_each_record(const runfile::NcclTable& calls, const ProcessRows& rows,
                       std::span<const std::uint32_t> calls_in_plan,
                       const std::function<Status(const CallRecord&)>& take) {
  using Member = std::pair<std::uint32_t, std::int32_t>;  // communicator and its rank
  std::map<Member, std::uint64_t> next_order;
  Member last_member;
  std::uint64_t* next = nullptr;  // of last_member
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    CallRecord call = record_of(calls, row, rows.base);
    call.process = rows.process;
    call.calls_in_plan = calls_in_plan[row];
    if (is_in_order(call)) {
      const Member member(call.comm, call.comm_rank);
      if (next == nullptr || last_member != member) {
        last_member = member;
        next = &next_order[member];
      }
      call.order = (*next)++;
    }
    if (auto taken = take(call); !taken) return taken;
  }
  return {};
}

}  // namespace jaxprof::match

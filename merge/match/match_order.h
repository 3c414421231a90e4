// In which order calls are sorted for matching: those of one instance, and of one transfer, side by side.
#pragma once

#include <cstdint>
#include <tuple>

#include "merge/match/call_record.h"
#include "merge/scratch/sort_items.h"

namespace jaxprof::match {

// The order of /collectives, then of its members: communicator rank, for unknown ranks the process. What was not
// captured comes before what was, and a capture before its replays.
struct CollectiveOrder {
  // What all members of an instance have in common.
  static auto instance(const CallRecord& call) {
    return std::tuple(call.comm, call.seq, call.coll, call.capture + 1, call.replay + 1);
  }
  static scratch::Leading leading(const CallRecord& call);
  bool operator()(const CallRecord& a, const CallRecord& b) const {
    const auto key_a = instance(a);
    const auto key_b = instance(b);
    if (key_a != key_b) return key_a < key_b;
    return std::tie(a.comm_rank, a.process, a.row) < std::tie(b.comm_rank, b.process, b.row);
  }
};

// The order of /transfers; the Send before the Recv.
struct TransferOrder {
  static bool is_send(const CallRecord& call) { return call.coll == runfile::Coll::kSend; }
  static std::int32_t source(const CallRecord& call) { return is_send(call) ? call.comm_rank : call.peer; }
  static std::int32_t destination(const CallRecord& call) { return is_send(call) ? call.peer : call.comm_rank; }
  // What the numbers count: sends, or calls of which the send is a part.
  static runfile::Coll counted(const CallRecord& call) { return call.is_part ? call.whole : runfile::Coll::kSend; }

  static auto transfer(const CallRecord& call) {
    return std::tuple(call.comm, source(call), destination(call), call.seq, counted(call), call.capture + 1,
                      call.replay + 1);
  }
  static scratch::Leading leading(const CallRecord& call);
  bool operator()(const CallRecord& a, const CallRecord& b) const {
    const auto key_a = transfer(a);
    const auto key_b = transfer(b);
    if (key_a != key_b) return key_a < key_b;
    return std::tuple(!is_send(a), a.process, a.row) < std::tuple(!is_send(b), b.process, b.row);
  }
};

}  // namespace jaxprof::match

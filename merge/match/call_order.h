// NCCL numbers calls by function, so that numbers alone do not show that a member left a call out or made two in
// another order than the others: instances still look whole. This looks at each member's calls on a communicator in the
// order in which it made them, and compares that with the order of the others: what the most have in common is the
// order of the communicator. A member's own window may have opened later or closed earlier, its process may have died:
// calls that it lacks at an end are told apart from those that it lacks in the middle, also between two openings of
// its window. Nothing is shifted or mended for it.
//
// In memory are the members of one communicator at a time; what deviates is sorted on disk if it is much.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/match/instance_matcher.h"

namespace jaxprof::match {

enum class Deviation : std::uint8_t {
  kMissing,    // calls of others that it lacks between calls that it made
  kSwapped,    // calls that it made before or after others that the most made in the opposite order
  kLateStart,  // its first recorded call comes after the first of the most
  kEarlyEnd,   // its last one comes before the last of the most
};

// What is to be said of a process, over all of its communicators.
struct CallFinding {
  Deviation what = Deviation::kMissing;
  std::uint32_t process = 0;
  std::uint64_t count = 0;       // calls; of a late start or early end the most that it lacks on one communicator
  std::uint32_t comm_count = 0;  // communicators on which it is so
  // The first of them, by time: the call that is missing, that was made at another place, or that was first or last.
  std::uint32_t comm = 0;
  std::int32_t comm_rank = -1;
  runfile::Coll coll = runfile::Coll::kMissing;
  std::uint64_t seq = 0;
  std::int64_t time_ns = runfile::kNoTime;  // its enqueue; of a missing call the first member's
  bool is_early = false;                    // kSwapped: it made that one earlier than the others did
  bool is_even = false;                     // as many members did it in the one way as in the other
};

class CallOrder {
 public:
  // `window_openings_ns`: by process, ascending, on the axis of the calls; for a process without any, or that is not
  // in it, there was one. `folder` is where a scratch file may lie.
  CallOrder(std::vector<std::vector<std::int64_t>> window_openings_ns, std::string folder, std::size_t budget_bytes);
  ~CallOrder();

  // All instances, in the order of InstanceMatcher. Looks at records with an `order` only.
  Status add(const InstanceBatch& batch);

  // By process, then by deviation; once.
  Result<std::vector<CallFinding>> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jaxprof::match

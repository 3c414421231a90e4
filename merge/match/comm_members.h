// Which communicators one process is a member of, with which ranks and on which of its GPUs. Three sources tell it in
// parts: the plugin's init (rank and size, of split communicators too), NCCL's NVTX ranges around making and ending a
// communicator (rank, size and CUDA device), and calls, which name the communicator alone. A process that drives
// several GPUs holds several members of one communicator, and they are kept apart by their ranks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/match/payload.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

// A member of a communicator as its process knows it.
struct ProcessComm {
  std::uint64_t hash = 0;
  std::int32_t rank = -1;        // of the member; -1: unknown
  std::int32_t rank_count = -1;  // -1: unknown
  std::int32_t node_count = -1;
  std::int32_t device = -1;  // CUDA's number for the member's GPU in this process; -1: not told
  std::uint32_t thread = 0;  // that made the member, by its NVTX range; 0: not told
  std::string name;
};

// What NCCL's payload says about the communicator of a range, 2.25 and newer; nothing if it has no id yet.
std::optional<std::uint64_t> comm_hash_of(std::span<const PayloadField> fields);

class CommMembers {
 public:
  // A range of NCCL's domain on `thread` that is no collective call, with its payload. `api`: its message,
  // "ncclCommInitRank" and so on.
  void take_range(std::string_view api, std::uint32_t thread, std::span<const PayloadField> fields);
  void take_plugin(const rundir::Communicator& from);
  // A call on communicator `hash`: that it exists, if nobody has told.
  void take_call(std::uint64_t hash);

  // Once all is taken: a member whose rank was not told is one of those whose rank was.
  void settle();

  // Members of `hash` in this process. 0: nobody told of it.
  std::size_t count(std::uint64_t hash) const;
  // The rank of the only member of `hash`; -1 if there are several or it is not known.
  std::int32_t only_rank(std::uint64_t hash) const;
  // The rank of the only member that was made on `thread`, and nowhere else; -1 if there is no such one.
  std::int32_t rank_made_on(std::uint64_t hash, std::uint32_t thread) const;
  // The CUDA device of a member; -1 if not told.
  std::int32_t device(std::uint64_t hash, std::int32_t rank) const;
  // All, by hash, then rank.
  std::vector<ProcessComm> all() const;

 private:
  ProcessComm& member(std::uint64_t hash, std::int32_t rank);

  std::map<std::uint64_t, std::map<std::int32_t, ProcessComm>> comms_;  // by hash and rank; -1: not told
};

}  // namespace jaxprof::match

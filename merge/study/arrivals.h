// Who came when to each collective: the instances of the run with the times of their members, in columns, which is what
// lateness, blame, the critical path and what-if are computed from. Times are of GPUs; where no instance has them, host
// times stand in for all, since the two are not to be compared.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/study/scope.h"

namespace jaxprof::study {

inline constexpr std::uint32_t kNoMember = std::numeric_limits<std::uint32_t>::max();

// Bits of ArrivalInstances::flags.
inline constexpr std::uint8_t kArrivalAsked = 1;       // its step and operation are asked for
inline constexpr std::uint8_t kArrivalComplete = 2;    // every member of the communicator has been seen
inline constexpr std::uint8_t kArrivalAsRecorded = 4;  // every member whose process was recorded; two at least
inline constexpr std::uint8_t kArrivalResolved = 8;    // first and last are apart by more than 3 sigma of the clocks
inline constexpr std::uint8_t kArrivalCertain = 16;    // … by more than the clocks can be wrong; on one node always
inline constexpr std::uint8_t kArrivalSynchronizing = 32;  // no member can end before each has begun
inline constexpr std::uint8_t kArrivalEarlyExit = 64;      // a member ended before the last began
inline constexpr std::uint8_t kArrivalGrouped = 128;       // a member ran it in one kernel with other calls

// All instances of the run, also those that were not asked for: what a rank did before the first that was begins there.
// By communicator, then by first arrival. ns on the run's time axis.
struct ArrivalInstances {
  std::vector<std::uint64_t> collective;  // row of /collectives
  std::vector<std::uint32_t> comm;        // row of /comms; kNoIndex: none
  std::vector<std::int64_t> first_ns;     // F: first arrival
  std::vector<std::int64_t> last_ns;      // A: last arrival
  std::vector<std::int64_t> end_ns;       // E: last end
  std::vector<std::int32_t> step;         // position in StepAxis::steps(), where most members' calls begin; -1: none
  std::vector<std::uint8_t> flags;
  std::vector<std::uint64_t> member_offset{0};  // [instances + 1]: into ArrivalMembers
};

// By instance, in order of communicator rank. Several members of an instance may be of one process.
struct ArrivalMembers {
  std::vector<std::uint64_t> call;      // row of /events/nccl
  std::vector<std::uint32_t> process;   // row of /job/processes
  std::vector<std::int32_t> comm_rank;  // -1: not told
  std::vector<std::int32_t> device;     // row of /job/devices; -1: not told, or shared by several processes
  std::vector<std::int64_t> start_ns;   // arrival
  std::vector<std::int64_t> end_ns;     // at or after start_ns
  // Its GPU's (without one: its process's) synchronizing operation, on whatever communicator, that ended last before
  // this one began; a position here, or kNoMember. What lies in between is the member's own time.
  std::vector<std::uint32_t> previous;
};

struct Arrivals {
  bool is_gpu = false;  // GPU times; false: host enqueue
  ArrivalInstances instances;
  ArrivalMembers members;
  std::uint64_t n_without_times = 0;  // instances left out: not all members have times of that kind
  std::uint64_t n_captures = 0;       // … calls that were captured, of which replays are here

  std::size_t size() const { return instances.collective.size(); }
  bool has(std::size_t instance, std::uint8_t flags) const { return (instances.flags[instance] & flags) == flags; }
  std::size_t begin(std::size_t instance) const { return instances.member_offset[instance]; }
  std::size_t end(std::size_t instance) const { return instances.member_offset[instance + 1]; }
  std::span<const std::int64_t> starts_ns(std::size_t instance) const {
    return std::span(members.start_ns).subspan(begin(instance), end(instance) - begin(instance));
  }
};

// Takes scope's steps and options.op; not options.ranks: a rank is late in comparison with all others. Of host times,
// enqueue_ns and end_api_ns are those of `host` if it is given; where these were not read, start_ns stands in.
Arrivals find_arrivals(const runfile::RunTables& run, const Scope& scope, const StudyOptions& options,
                       const runfile::NcclTable* host = nullptr);

// The columns that it needs, with those of a Scope.
bool arrivals_want(std::string_view path);

// The same from a run file of which only the columns of arrivals_of_gpus_want were read; reads those of host times
// where they are needed after all, which is seldom, and they are many. kInputUnreadable.
Result<Arrivals> read_arrivals(const StudyRun& run, const Scope& scope, const StudyOptions& options);
bool arrivals_of_gpus_want(std::string_view path);

// AllReduce, AllGather, ReduceScatter, AllToAll, Barrier. Of a Broadcast, say, the root may leave before others come.
bool is_synchronizing(runfile::Coll coll);

}  // namespace jaxprof::study

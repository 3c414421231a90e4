// What the one thread of a synthetic process writes into its ring: NVTX ranges, and NCCL's calls as NCCL 2.28 makes
// them eagerly, with its ranges and the events of profiler interface 5, in NCCL's own order. The time goes on with
// every event by what such a call takes, and never back.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/simulator/sim_random.h"
#include "tests/synthetic/communicators.h"
#include "tests/synthetic/nccl_schemas.h"
#include "tests/synthetic/node_times.h"

namespace jaxprof::synthetic {

// One call of NCCL, as its rank makes it.
struct NcclCall {
  Comm comm;
  spool::NcclFunction function = spool::NcclFunction::kAllReduce;
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;  // of its function on the communicator
  std::int32_t peer = -1;      // of Send and Recv
  std::int32_t rank = 0;       // in the communicator
};

struct Launch {
  std::uint64_t handle = 0;  // of KernelLaunch; 0: not told
  std::int64_t at_ns = 0;
};

class HostThread {
 public:
  // The first two are borrowed. The thread is SpoolFile::kThread.
  HostThread(SpoolFile* spool, const NodeTimes& times, std::uint32_t node, NcclBy nccl_by, std::uint64_t seed);

  // To that time, or where it has passed a little on.
  void go_to(std::int64_t true_ns);
  std::int64_t now_ns() const { return now_ns_; }

  void push(std::string_view message);
  void push_step(std::int64_t number);
  void pop();
  // ncclCommInitRankConfig's range.
  void make_comm(const Comm& comm, std::uint32_t rank, std::int32_t device);
  // One call, or several in a group: one kernel on the stream with that address. Without the plugin the launch has no
  // handle.
  Launch call(const std::vector<NcclCall>& calls, std::uint64_t stream);

 private:
  std::uint64_t tick();  // stamp of an event, and on
  void push_nccl(std::string_view api, std::uint64_t ordinal, std::uint64_t schema, const void* payload,
                 std::size_t bytes);
  void pop_nccl();
  void push_call(const NcclCall& call);
  std::uint64_t start(spool::NcclEvent event, std::uint32_t comm, std::uint64_t parent,
                      std::initializer_list<std::uint64_t> more);
  void stop(std::uint64_t handle);
  void state(std::uint64_t handle, std::uint32_t state);
  std::uint64_t start_api(const NcclCall& call, std::uint64_t group, std::uint64_t stream);
  void enqueue(const NcclCall& call, std::uint64_t api);

  SpoolFile& spool_;
  const NodeTimes& times_;
  const std::uint32_t node_;
  const bool has_plugin_;
  const bool has_ranges_;  // NCCL's
  test::SimRandom random_;
  std::int64_t now_ns_ = 0;
  std::uint16_t depth_ = 0;       // of the program's ranges
  std::uint16_t nccl_depth_ = 0;  // of NCCL's
  std::uint64_t handles_ = 0;
};

}  // namespace jaxprof::synthetic

// NCCL moves data between nodes from a proxy thread of its own, one a communicator, and reports what it does there as
// ProxyOp and ProxyStep events: on that thread, at its own pace, before or after the collective's stop. This is that
// thread for a communicator that spans nodes. It moves nothing (MPI does); it reports.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tests/puppets/nvtx_ranges.h"
#include "tests/puppets/plan.h"
#include "tests/puppets/profiler_plugin.h"

namespace jaxprof::puppets {

class ProxyThread {
 public:
  // Runs until destroyed; what is posted before is done before. The thread names itself as NCCL's does.
  ProxyThread(const ProfilerPlugin& plugin, const NvtxRanges& ranges, const Communicator& comm);
  ~ProxyThread();
  ProxyThread(const ProxyThread&) = delete;
  ProxyThread& operator=(const ProxyThread&) = delete;

  // Queues the network operations of `task`, if its ring neighbours or its peer are on another node. Launching thread.
  void post(const Task& task);
  // Queues what the channels of `task`'s kernel stamped. Stream's thread.
  void post_kernel(const Task& task, std::int64_t begin_raw_ns, std::int64_t end_raw_ns);

 private:
  struct Operation {
    void* task_event;
    std::uint64_t mask;
    int peer;
    bool is_send;
    std::size_t bytes;
    int n_channels = 0;  // > 0: a kernel's, with its times
    std::int64_t begin_raw_ns = 0;
    std::int64_t end_raw_ns = 0;
  };
  void run();
  void report(const Operation& operation) const;
  void report_kernel(const Operation& operation) const;
  void report_step(void* op_event, const Operation& operation, int step) const;

  const ProfilerPlugin& plugin_;
  const NvtxRanges& ranges_;
  const Communicator& comm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Operation> queue_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace jaxprof::puppets

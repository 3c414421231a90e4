// One application thread's view of the puppet's NCCL: it calls collectives, alone or between group_start and
// group_end, and when the outermost group ends the plans are launched. NVTX ranges, profiler callbacks, the truth log
// and the MPI transfer of a call all start here, in NCCL's order. Used by one thread only.
#pragma once

#include <thread>
#include <vector>

#include "tests/puppets/nvtx_ranges.h"
#include "tests/puppets/profiler_events.h"
#include "tests/puppets/stream.h"
#include "tests/puppets/truth_log.h"

namespace jaxprof::puppets {

class UserThread {
 public:
  UserThread(const ProfilerPlugin& plugin, const NvtxRanges& ranges, const TruthLog& log, Stream& stream,
             const CallSettings& settings = {})
      : plugin_(plugin),
        events_(plugin, settings.user_tag),
        ranges_(ranges),
        log_(log),
        stream_(stream),
        settings_(settings) {}

  // ncclGroupStart, ncclGroupEnd.
  void group_start();
  void group_end();
  // ncclAllReduce and so on. `slept_ns` is how long the thread delayed itself before; it is only logged.
  void call(const Call& call, std::int64_t slept_ns);

  // Calls in between go into a CUDA graph, on the thread's own stream; replay() launches it.
  void begin_capture();
  void end_capture();
  void replay() { stream_.replay(); }

  // Iteration number for the log lines of the calls that follow.
  void set_iteration(std::int64_t iteration) { iteration_ = iteration; }
  std::uint64_t n_calls() const { return n_calls_; }
  Stream& stream() { return stream_; }

 private:
  void enter() { ++depth_; }
  void leave();
  void append(const Call& call, std::size_t n_record);
  Plan& plan_of(const Call& call, Carrier carrier);
  void launch();
  void number_tasks();
  void launch_plan(Plan plan);
  std::vector<Stream::QueuedCall> calls_of(const Plan& plan) const;
  void report(Plan& plan) const;
  void wait_for_launch();
  void write_records();

  const ProfilerPlugin& plugin_;
  const ProfilerEvents events_;
  const NvtxRanges& ranges_;
  const TruthLog& log_;
  Stream& stream_;
  const CallSettings settings_;
  std::thread launcher_;  // kAsync
  int depth_ = 0;
  bool is_captured_ = false;
  bool is_in_group_ = false;
  std::int64_t group_begin_raw_ns_ = 0;
  std::vector<CallRecord> records_;  // of the open outermost group
  std::vector<Plan> plans_;          // likewise
  std::int64_t iteration_ = 0;
  std::uint64_t n_calls_ = 0;
};

}  // namespace jaxprof::puppets

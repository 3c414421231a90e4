// What NCCL and its surroundings have been seen to do to a profiler plugin beside ordinary calls, on demand. Each
// leaves a `hazard` line in the log with the number of events that it started, so that a test can account for them.
//   foreign       a proxy operation that another process asked for (PXN): its pid, its context, its parent
//   null-context  a call on a communicator whose init gave no context
//   strays        stops and states of handles that were never given, and of one that is stopped already
//   mask          the event mask rewritten from outside before each iteration: nothing, everything, as it was
//   late          calls on a communicator after its finalize, while the plugin is loaded
//   reload        after the last communicator a new one: the plugin is loaded again, and used
//   fork          a child process that calls, and ends without exec
//   flood         two threads that start and stop a million events as fast as they can
#pragma once

#include "tests/puppets/comm_lifecycle.h"
#include "tests/puppets/profiler_plugin.h"
#include "tests/puppets/truth_log.h"

namespace jaxprof::puppets {

class Hazards {
 public:
  // `wanted`: bits of options.h.
  Hazards(unsigned wanted, ProfilerPlugin& plugin, const TruthLog& log) : wanted_(wanted), plugin_(plugin), log_(log) {}

  // On each user thread.
  void before_iteration(int iteration);
  // The rest: main thread, nobody else calls.
  void after_work(const Communicator& comm);
  void after_finalize(void* context) const;
  void load_again(CommLifecycle& lifecycle) const;

 private:
  bool wants(unsigned hazard) const { return (wanted_ & hazard) != 0; }
  void foreign(const Communicator& comm) const;
  void null_context(const Communicator& comm) const;
  void strays(const Communicator& comm) const;
  void fork_child(const Communicator& comm) const;
  void flood(const Communicator& comm) const;

  const unsigned wanted_;
  ProfilerPlugin& plugin_;
  const TruthLog& log_;
  int own_mask_ = 0;  // what the plugin wanted
};

}  // namespace jaxprof::puppets

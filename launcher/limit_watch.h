// While the job runs, one thread of the wrapper looks once a second whether recording has to stop, or has stopped: it
// keeps the deadline, and says on stderr, once a run, that a limit was met and the job goes on without being recorded.
// It waits for nothing: neither the main thread's signals nor the wrapper's end wait for it in turn.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "launcher/child_answer.h"
#include "launcher/deadline.h"
#include "launcher/options.h"
#include "launcher/task.h"

namespace jaxprof::launcher {

class LimitWatch {
 public:
  LimitWatch(const Options& options, const Task& task);

  // After the job has started, with all signals blocked. Where no thread can be made, only the agents' own limits hold.
  void start();
  // After the job's end, before this process forks again. Says what has not been said yet, which takes a second
  // at most where shared storage hangs.
  void stop();

 private:
  void run(const std::stop_token& stop);
  // True if there is nothing more to look for.
  bool look();
  bool say_once();

  const Options& options_;
  const Task& task_;
  Deadline deadline_;
  std::optional<ChildAnswer> mark_;  // is it this wrapper that says it?
  bool is_said_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

// What is said when the recording of `task` has stopped for `reason`.
std::string describe_stop(StopReason reason, const Task& task, const Deadline& deadline);

}  // namespace jaxprof::launcher

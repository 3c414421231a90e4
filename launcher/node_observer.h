// The observer of the node, as one task sees it: wanted or not, started by this task or by another, looked after while
// the job runs. Where it cannot be had the job is recorded without it, and people are told once a run.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "agent/base/env.h"
#include "launcher/observer_watch.h"
#include "launcher/options.h"
#include "launcher/task.h"

namespace jaxprof::launcher {

// Of a traced task, which is registered in its node folder.
class NodeObserver {
 public:
  NodeObserver(const Options& options, const Task& task, const Env& env);

  // Before this process becomes the reaper of its job's orphans. At most one task of the node starts it here.
  void start();

  // After the job has started, with all signals blocked, to its end. `on_started`: the number of an observer that has
  // become this process's child and is none of the job's.
  void watch(std::function<void(pid_t)> on_started);
  void stop_watching();

 private:
  const Options& options_;
  const Task& task_;
  std::vector<std::string> command_;  // empty: none is wanted or none can be had
  std::vector<std::string> environment_;
  std::optional<ObserverWatch> watch_;
};

// Of a task that runs without a wrapper: registers this process, which is about to become the job, and starts the
// observer if no other task has. Does nothing where only traced nodes are observed. kNodeNotReady or kOutputFailed with
// what is in the way.
Status observe_for_plain_task(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env);

}  // namespace jaxprof::launcher

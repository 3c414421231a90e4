// The observer of a node may be killed, by a person or for want of memory, while the run's tasks go on. Each wrapper
// looks every few seconds whether one lives, at a moment of its own, and the first that finds none starts another. The
// gap is seen in what was recorded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "launcher/observer_turns.h"

namespace jaxprof::launcher {

class ObserverWatch {
 public:
  // The observer that `command` starts is one of the tasks that share `node_folder`. `phase` differs between them.
  // `on_started` is told the number of one that was started, by the thread that watches.
  ObserverWatch(std::vector<std::string> command, std::vector<std::string> environment, const std::string& node_folder,
                std::uint64_t phase, std::function<void(pid_t)> on_started);

  // After the job has started, with all signals blocked. Where no thread can be made, the others have to do.
  void start();
  // After the job's end, before this process forks again. Within a moment.
  void stop();

 private:
  void run(const std::stop_token& stop);

  std::vector<std::string> command_;
  std::vector<std::string> environment_;
  ObserverTurns turns_;
  std::chrono::milliseconds first_look_;
  std::function<void(pid_t)> on_started_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace jaxprof::launcher

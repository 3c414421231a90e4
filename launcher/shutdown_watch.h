// --capture-range-end stop-shutdown: once the window of a process of the task has closed for good, and what it recorded
// is in its spool, the job is asked to end, as if this wrapper had got a SIGTERM. Other processes of the task whose
// window is still open get a moment first. A job that is still there after --grace is killed. The status is the job's
// own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "agent/contract/session_page.h"

namespace jaxprof::launcher {

class ShutdownWatch {
 public:
  // `ask` and `kill` end the job; both are called by the thread, at most once. Of the run's
  // tasks the one that makes the file `mark_path` says why on stderr; "": none does.
  ShutdownWatch(const SessionPage& page, std::int64_t grace_ns, std::string mark_path, std::function<void()> ask,
                std::function<void()> kill);

  // With all signals blocked. Does nothing where the window is not to end the job.
  void start();
  // After the job's end.
  void stop();

 private:
  void run(const std::stop_token& stop);
  void say_once() const;
  // Sleeps; false if it was told to stop meanwhile.
  bool pause(const std::stop_token& stop, std::int64_t ns);

  const SessionPage& page_;
  std::int64_t grace_ns_;
  std::string mark_path_;
  std::function<void()> ask_;
  std::function<void()> kill_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;
};

}  // namespace jaxprof::launcher

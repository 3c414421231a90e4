// A merge that is told to stop (Ctrl-C, a batch system at its time limit) shall end at once, by that signal, and leave
// nothing: its .part may be as large as the run file. A handler could do little of that, so a thread waits for signals.
#pragma once

#include <sys/stat.h>

#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "agent/base/unique_fd.h"

namespace jaxprof::merge {

// While it lives, SIGINT, SIGTERM and SIGHUP remove the file and end the program. To be made before other threads are,
// and to be destroyed by the thread that made it. Those that the program was started to ignore stay ignored.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // The file at `path` as it is now; one that has come to its place by then is left alone.
  void remove_on_stop(const std::string& path);

 private:
  void wait() const;
  void remove() const;

  sigset_t before_{};
  UniqueFd signals_;
  UniqueFd end_;
  mutable std::mutex mutex_;
  std::string path_;
  std::optional<struct stat> file_;
  std::thread thread_;
};

}  // namespace jaxprof::merge

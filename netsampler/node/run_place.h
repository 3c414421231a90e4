// The observer's place in a run on its node. One observes for all tasks of the run: whoever holds the lock in the
// folder that they share. It goes when no task is left, and lets go of the lock first, so that a task that comes just
// then finds another observer and not one that is about to leave. Ends by SIGKILL are normal; the kernel frees the
// place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/base/file_lock.h"
#include "agent/base/result.h"
#include "agent/contract/node_tasks.h"

namespace jaxprof::netsampler {

class RunPlace {
 public:
  // Takes the place. Nothing if another observer has it, or if the folder is gone and so are the tasks. kNodeNotReady
  // if the lock cannot be asked for.
  static Result<std::optional<RunPlace>> take(const std::string& node_folder);

  // True once no registered task lives any more; but not before one was seen, or 30 s have gone by since the first
  // call. Then the place is another's. `now_ns` is of CLOCK_MONOTONIC. To be asked several times a second.
  bool is_over(std::uint64_t now_ns);

  // True if a registered task that lives is traced.
  bool has_traced_task() { return tasks_.is_any_traced_alive(); }

  // Gives the place up, and takes the tasks' folder away if they are gone.
  void leave();

 private:
  RunPlace(const std::string& node_folder, FileLock lock)
      : folder_(node_folder), lock_(std::move(lock)), tasks_(node_folder) {}

  std::string folder_;
  FileLock lock_;
  NodeTasks tasks_;
  std::optional<std::uint64_t> first_look_ns_;
  bool has_seen_task_ = false;
};

}  // namespace jaxprof::netsampler

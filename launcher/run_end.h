// The last word on a run, said by whichever of its wrappers ends last. Nobody waits for it: each wrapper that has
// written its end record looks whether all others have too, and of those that find so, one makes the mark and prints.
// A wrapper that was killed never writes one; then there is no last line, and the merge reports the run's end. The mark
// names the tasks, so that a run by hand under the same id has a last line of its own, about its own tasks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/contract/task_record.h"
#include "agent/contract/window_plan.h"
#include "agent/spool/publisher.h"

namespace jaxprof::launcher {

// Writes `end` into the run's state folder.
Status write_end_record(const std::string& state_directory, const TaskEnd& end);

// The line to print if this task is the last, "" if not. `expected_ranks`: how many ranks the run traces, if known;
// else the tasks that have started so far have to do.
std::string last_line_if_last(const std::string& directory, const std::string& state_directory,
                              std::optional<std::int64_t> expected_ranks, const spool::IsTimeUp& is_time_up,
                              const WindowPlan& window = {});

}  // namespace jaxprof::launcher

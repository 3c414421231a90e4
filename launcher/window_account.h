// What became of the window on all ranks of a run, for the last line. A window that never opened gives files with
// nothing in them, and that must not go unsaid. A function from values to values.
#pragma once

#include <string>
#include <vector>

#include "agent/contract/task_record.h"
#include "agent/contract/window_plan.h"

namespace jaxprof::launcher {

// "; window 200-240 closed on 126 of 128 ranks, still open at the end on 1, never opened on 1"; "" for a window that is
// always open, and where nothing was written. A rank of several processes counts by the one that came furthest.
std::string describe_windows(const std::vector<TaskEnd>& ends, const WindowPlan& window);

}  // namespace jaxprof::launcher

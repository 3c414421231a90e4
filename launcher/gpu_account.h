// GPUs that were to be recorded and were not, on all ranks of a run, for the last line: a profile without kernels looks
// like a job without work. A function from values to values.
#pragma once

#include <string>
#include <vector>

#include "agent/contract/task_record.h"

namespace jaxprof::launcher {

// "; GPU records are missing on 2 of 4 processes: CUPTI is taken by another tool"; "" if none are. Some may be there:
// of what came before CUPTI ended itself. The reason is the first one's, and others are counted.
std::string describe_missing_gpus(const std::vector<TaskEnd>& ends);

}  // namespace jaxprof::launcher

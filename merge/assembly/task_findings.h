// What is to be said of each task: profiled, or why not, from its two records and what lies in the run directory. A
// rank is named once: a file of its that cannot be read is part of its verdict.
#pragma once

#include <cstddef>
#include <string>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/run_time.h"

namespace jaxprof::assembly {

struct TaskVerdict {
  runfile::TaskState state = runfile::TaskState::kProfiled;
  std::string reason;
  const char* code = nullptr;  // of the finding, if there is one
  runfile::Severity severity = runfile::Severity::kError;
};

// Of the task with this position in `sources`.
TaskVerdict judge_task(const RunSources& sources, std::size_t index, const RunTime& time);

// The verdict, the task's notes, and processes that were not published.
void diagnose_task(const RunSources& sources, std::size_t index, const TaskVerdict& verdict, const Place& place,
                   Diagnostics* diagnostics);

// Where `jaxprof collect` would bring in more, if that is more than one task: one line with all nodes.
void diagnose_uncollected(const RunSources& sources, Diagnostics* diagnostics);

// Files that could not be read and are in no task's verdict.
void diagnose_files(const RunSources& sources, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly

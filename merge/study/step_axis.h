// When each process was in which step. A step lasts from its begin to the begin of the process's next one (iteration
// time, what training logs print), so that work between two markers belongs to the earlier one; the last one, and one
// before the window closed, lasts to the end of its marker or to the closing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {

// A step as the job has it: over all processes that marked it.
struct JobStep {
  std::int64_t step = 0;        // its number
  TimeSpan span;                // from the earliest begin to the latest end
  std::int64_t length_ns = 0;   // median over its processes of how long it lasted
  std::uint32_t processes = 0;  // that marked it
  bool is_ended = true;         // false: a process's marker never ended
};

struct ProcessStep {
  TimeSpan span;
  std::uint32_t index = 0;  // of StepAxis::steps()
};

// Read-only after construction: any thread.
class StepAxis {
 public:
  explicit StepAxis(const runfile::RunTables& run);

  const std::vector<JobStep>& steps() const { return steps_; }  // ascending by number
  // By begin; empty for a process that marked none.
  std::span<const ProcessStep> of_process(std::size_t process) const;
  // The step of that process at that instant; of a process that marks none, that of the job.
  std::optional<std::uint32_t> index_at(std::size_t process, std::int64_t t_ns) const;

 private:
  void gather(const runfile::RunTables& run);
  void lay_end_to_begin(const runfile::RunTables& run);
  void sum_up();

  std::vector<JobStep> steps_;
  std::vector<ProcessStep> process_steps_;  // by process and begin
  std::vector<std::size_t> offset_;         // [processes + 1]
  std::vector<ProcessStep> job_steps_;      // by begin, each to the next one's
  std::vector<std::uint8_t> has_end_;       // of process_steps_
};

bool step_axis_wants(std::string_view path);

}  // namespace jaxprof::study

// Which part of the run a study is over. Without a filter that is the steady steps: a first step that compiles, or that
// waits for all ranks to start, would hide every other one. What is left out is said beside the numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merge/study/intervals.h"
#include "merge/study/step_axis.h"
#include "merge/study/study.h"

namespace jaxprof::study {

// Leading steps that last longer than this many medians of all steps are warm-up, at most half of the steps.
inline constexpr double kWarmUpMedians = 1.5;

// Read-only after construction: any thread.
class Scope {
 public:
  Scope(const runfile::RunTables& run, const StudyOptions& options);

  const StepAxis& axis() const { return axis_; }
  bool has_steps() const { return !axis_.steps().empty(); }
  // By position in axis().steps(): is the step asked for?
  bool is_step_wanted(std::uint32_t index) const { return is_wanted_[index] != 0; }
  std::uint32_t n_steps() const { return n_steps_; }  // that are asked for
  // The time of that process that is in scope; without steps, segments and --window all of it from the first stamp of
  // its spool to the last.
  const Intervals& of_process(std::size_t process) const { return spans_[process]; }
  bool contains(std::size_t process, std::int64_t t_ns) const { return spans_[process].contains(t_ns); }
  // The step that is asked for and in which the process was; -1: none. 0 in a run without steps, if it is in scope.
  std::int32_t step_at(std::size_t process, std::int64_t t_ns) const;

  // What is in it, for a heading or a parameter: "steps 2-40; steps 0-1 left out as warm-up (--all-steps)".
  const std::string& words() const { return words_; }

 private:
  void choose_steps(const StudyOptions& options);
  Intervals spans_of(const runfile::RunTables& run, const StudyOptions& options, std::size_t process) const;

  StepAxis axis_;
  std::vector<std::uint8_t> is_wanted_;  // [steps]
  std::uint32_t n_steps_ = 0;
  std::vector<Intervals> spans_;  // [processes]
  std::string words_;
};

// The columns that it needs: /steps, /segments, /job/processes.
bool scope_wants(std::string_view path);

// kUsage where --steps, --segment or --window name nothing that the run has.
Status check_scope(const runfile::RunTables& run, const StudyOptions& options);

}  // namespace jaxprof::study

// The time in scope in which a process's GPUs and calls were recorded: outside of its windows nothing was, and a GPU
// of which nothing was recorded is not idle.
#pragma once

#include <string_view>
#include <vector>

#include "merge/study/scope.h"

namespace jaxprof::study {

// A stretch of it that lies in one step.
struct StepPiece {
  TimeSpan span;
  std::int32_t step = -1;  // position in axis().steps(); -1: in none
};

// Read-only after construction: any thread.
class RecordedTime {
 public:
  RecordedTime(const runfile::RunTables& run, const StudyOptions& options);

  const Scope& scope() const { return scope_; }
  const Intervals& of_process(std::size_t process) const { return spans_[process]; }
  std::size_t n_processes() const { return spans_.size(); }
  // The same, cut where steps end: ascending and disjoint, together exactly of_process().
  std::vector<StepPiece> pieces_of(std::size_t process) const;

 private:
  Scope scope_;
  std::vector<Intervals> spans_;  // [processes]
};

// The columns that it needs.
bool recorded_time_wants(std::string_view path);

// Says of ascending instants whether they lie in a set; cheap, since both go forward together.
class Walker {
 public:
  explicit Walker(const Intervals& set) : spans_(set.spans()) {}
  bool contains(std::int64_t t_ns) {
    while (at_ < spans_.size() && spans_[at_].end_ns <= t_ns) ++at_;
    return at_ < spans_.size() && spans_[at_].begin_ns <= t_ns;
  }

 private:
  std::span<const TimeSpan> spans_;
  std::size_t at_ = 0;
};

}  // namespace jaxprof::study

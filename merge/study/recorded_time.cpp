#include "merge/study/recorded_time.h"

#include <algorithm>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// By process; empty where there was no window, or its spool is of a time before windows.
std::vector<Intervals> windows_of(const RunTables& run) {
  std::vector<Intervals> windows(run.processes.process.size());
  const SegmentTable& t = run.segments;
  for (std::size_t row = 0; row < t.process.size(); ++row) {
    if (t.process[row] >= windows.size()) continue;
    const std::int64_t process_end_ns = instant_after(run.processes.end_ns[t.process[row]], 1);
    windows[t.process[row]].add({t.open_ns[row], t.close_ns[row] == kNoTime ? process_end_ns : t.close_ns[row]});
  }
  for (Intervals& process : windows) process.settle();
  return windows;
}

// Spans of steps that processes without steps of their own are in, each cut where the next one begins.
std::vector<StepPiece> job_pieces(const StepAxis& axis) {
  std::vector<StepPiece> pieces;
  for (std::size_t i = 0; i < axis.steps().size(); ++i) {
    pieces.push_back({axis.steps()[i].span, static_cast<std::int32_t>(i)});
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const StepPiece& a, const StepPiece& b) { return a.span.begin_ns < b.span.begin_ns; });
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    pieces[i].span.end_ns = std::min(pieces[i].span.end_ns, pieces[i + 1].span.begin_ns);
  }
  return pieces;
}

}  // namespace

RecordedTime::RecordedTime(const RunTables& run, const StudyOptions& options) : scope_(run, options) {
  const std::vector<Intervals> windows = windows_of(run);
  for (std::size_t process = 0; process < windows.size(); ++process) {
    const Intervals& asked = scope_.of_process(process);
    spans_.push_back(windows[process].empty() ? asked : intersection(asked, windows[process]));
  }
}

std::vector<StepPiece> RecordedTime::pieces_of(std::size_t process) const {
  std::vector<StepPiece> steps;
  for (const ProcessStep& step : scope_.axis().of_process(process)) {
    steps.push_back({step.span, static_cast<std::int32_t>(step.index)});
  }
  if (steps.empty()) steps = job_pieces(scope_.axis());
  std::vector<StepPiece> pieces;
  std::size_t next = 0;
  for (TimeSpan span : spans_[process].spans()) {
    while (next < steps.size() && steps[next].span.end_ns <= span.begin_ns) ++next;
    for (std::size_t i = next; i < steps.size() && steps[i].span.begin_ns < span.end_ns; ++i) {
      const TimeSpan& step = steps[i].span;
      if (step.end_ns <= span.begin_ns || step.begin_ns >= step.end_ns) continue;
      if (span.begin_ns < step.begin_ns) pieces.push_back({{span.begin_ns, step.begin_ns}, -1});
      const TimeSpan common{std::max(span.begin_ns, step.begin_ns), std::min(span.end_ns, step.end_ns)};
      pieces.push_back({common, steps[i].step});
      span.begin_ns = common.end_ns;
    }
    if (span.begin_ns < span.end_ns) pieces.push_back({span, -1});
  }
  return pieces;
}

bool recorded_time_wants(std::string_view path) {
  return scope_wants(path);
}

}  // namespace jaxprof::study

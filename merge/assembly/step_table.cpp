#include "merge/assembly/step_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "merge/assembly/window_findings.h"
#include "merge/match/steps.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

runfile::StepTable rows_of(const SourceProcess& process, std::uint32_t index, const match::NvtxRanges& nvtx,
                           const std::vector<match::Step>& steps) {
  runfile::StepTable table;
  runfile::resize_rows(table, steps.size());
  for (std::size_t row = 0; row < steps.size(); ++row) {
    const match::NvtxRange& range = nvtx.ranges[steps[row].range];
    table.step[row] = steps[row].number;
    table.process[row] = index;
    table.tid[row] = process.trace.tid(range.thread);
    table.start_ns[row] = process.clock->axis_ns(range.start);
    if (range.has_end) table.dur_ns[row] = process.clock->axis_ns(range.end) - table.start_ns[row];
    table.source[row] = steps[row].source;
  }
  return table;
}

}  // namespace

StepPart read_steps(const SourceProcess& process, std::uint32_t index, const match::NvtxRanges& nvtx,
                    const std::vector<Segment>& segments, Diagnostics* diagnostics) {
  StepPart part;
  StepMarker marker;
  match::ProcessSteps found;
  if (match::read_step_marker(process.trace, &marker)) {
    found = match::find_steps(process.trace, marker, nvtx);
    part.set.marker = process.trace.identity().text(spool::IdentityKey::kStepMarker);
    UnmarkedSteps& marks = part.set.marks.emplace();
    marks.marker = marker;
    marks.alternatives = found.alternatives;
    marks.windows = window_words(process.trace);
    marks.was_ever_open = marks.windows.empty() || std::any_of(segments.begin(), segments.end(),
                                                               [](const Segment& s) { return s.open_ns >= 0; });
  }
  part.rows = rows_of(process, index, nvtx, found.steps);
  part.set.has_steps = !found.steps.empty();
  const Place place{process.rank, index, process.node};
  const std::string told_by = who(process.rank, process.trace.identity().text(spool::IdentityKey::kHost)) + ": ";
  diagnose_process_steps(part.rows, 0, found, place, told_by, diagnostics);
  if (process.rank < 0 || process.clock == nullptr) return part;
  // Windows that never opened are told of as such.
  const bool may_have_steps = segments.empty() || segments.front().open_ns >= 0;
  const bool is_windowed = !window_words(process.trace).empty();
  if (is_windowed && (!may_have_steps || segments.empty())) return part;
  part.set.own = steps_of_rank(part.rows, 0, process.rank);
  part.set.own->stretches = stretches_of(part.rows, 0, segments);
  return part;
}

void StepSummary::add(const StepSet& part) {
  has_steps_ = has_steps_ || part.has_steps;
  if (part.own) ranks_.push_back(*part.own);
  if (!part.marks) return;
  UnmarkedSteps& marks = marks_[part.marker];
  marks.marker = part.marks->marker;
  for (const auto& [name, count] : part.marks->alternatives) marks.alternatives[name] += count;
  if (const std::string& window = part.marks->windows; marks.windows.find(window) == std::string::npos) {
    marks.windows += (marks.windows.empty() ? "" : " | ") + window;
  }
  marks.was_ever_open = marks.was_ever_open || part.marks->was_ever_open;
}

void StepSummary::finish(runfile::RunAttributes* attributes, Diagnostics* diagnostics) const {
  for (const auto& [text, marks] : marks_) {
    attributes->step_marker += (attributes->step_marker.empty() ? "" : " | ") + text;
  }
  if (has_steps_) {
    diagnose_ranks(ranks_, diagnostics);
  } else {
    for (const auto& [text, marks] : marks_) diagnose_no_steps(marks, diagnostics);
  }
}

}  // namespace jaxprof::assembly

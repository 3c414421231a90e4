#include "merge/assembly/step_table.h"

#include <algorithm>
#include <string>

#include "merge/assembly/window_findings.h"
#include "merge/match/steps.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

void add_rows(const SourceProcess& process, std::uint32_t index, const match::NvtxRanges& nvtx,
              const std::vector<match::Step>& steps, runfile::StepTable* table) {
  const std::size_t base = runfile::n_rows(*table);
  runfile::resize_rows(*table, base + steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const match::NvtxRange& range = nvtx.ranges[steps[i].range];
    const std::size_t row = base + i;
    table->step[row] = steps[i].number;
    table->process[row] = index;
    table->tid[row] = process.trace.tid(range.thread);
    table->start_ns[row] = process.clock->axis_ns(range.start);
    if (range.has_end) table->dur_ns[row] = process.clock->axis_ns(range.end) - table->start_ns[row];
    table->source[row] = steps[i].source;
  }
}

}  // namespace

void StepRows::add(const SourceProcess& process, const match::NvtxRanges& nvtx, const std::vector<Segment>& segments) {
  const std::uint32_t index = next_process_++;
  StepMarker marker;
  match::ProcessSteps found;
  if (match::read_step_marker(process.trace, &marker)) {
    found = match::find_steps(process.trace, marker, nvtx);
    UnmarkedSteps& marks = marks_[process.trace.identity().text(spool::IdentityKey::kStepMarker)];
    marks.marker = marker;
    for (const auto& [name, count] : found.alternatives) marks.alternatives[name] += count;
    const std::string window = window_words(process.trace);
    if (marks.windows.find(window) == std::string::npos) marks.windows += (marks.windows.empty() ? "" : " | ") + window;
    marks.was_ever_open =
        marks.was_ever_open || window.empty() ||
        std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.open_ns >= 0; });
  }
  const std::size_t begin = runfile::n_rows(run_->steps);
  add_rows(process, index, nvtx, found.steps, &run_->steps);
  run_->step_process_offset.push_back(runfile::n_rows(run_->steps));

  const Place place{process.rank, index, process.node};
  const std::string told_by = who(process.rank, process.trace.identity().text(spool::IdentityKey::kHost)) + ": ";
  diagnose_process_steps(run_->steps, begin, found, place, told_by, diagnostics_);
  if (process.rank < 0 || process.clock == nullptr) return;
  RankSteps steps = steps_of_rank(run_->steps, begin, process.rank);
  steps.stretches = stretches_of(run_->steps, begin, segments);
  // Windows that never opened are told of as such.
  const bool may_have_steps = segments.empty() || segments.front().open_ns >= 0;
  const bool is_windowed = !window_words(process.trace).empty();
  if (!is_windowed || (may_have_steps && !segments.empty())) ranks_.push_back(std::move(steps));
}

void StepRows::finish() {
  for (const auto& [text, marks] : marks_) {
    run_->attributes.step_marker += (run_->attributes.step_marker.empty() ? "" : " | ") + text;
  }
  if (runfile::n_rows(run_->steps) == 0) {
    for (const auto& [text, marks] : marks_) diagnose_no_steps(marks, diagnostics_);
  } else {
    diagnose_ranks(ranks_, diagnostics_);
  }
}

}  // namespace jaxprof::assembly

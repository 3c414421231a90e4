// One process while its events go into a trace: what the parts of the export (steps, ranges, calls, GPU work) share.
#pragma once

#include "merge/export/ranks_and_time.h"
#include "merge/export/row_runs.h"
#include "merge/export/step_walk.h"
#include "merge/export/trace.h"

namespace jaxprof::exporting {

// Order of tracks below a process.
inline constexpr std::int32_t kStepsFirst = 0;
inline constexpr std::int32_t kThenLate = 1;
inline constexpr std::int32_t kThenRanges = 2;
inline constexpr std::int32_t kThenCalls = 3;
inline constexpr std::int32_t kThenCollectives = 4;
inline constexpr std::int32_t kThenStreams = 5;
inline constexpr std::int32_t kThenCounters = 6;

// Rows of one process that an export holds.
struct ProcessRows {
  RowRuns nvtx;
  RowRuns nccl;
  RowRuns kernels;
  RowRuns memops;
};

struct ExportedProcess {
  const runfile::RunTables& run;  // small tables, and the columns of arrivals
  const runfile::RunFileReader& reader;
  const study::StepAxis& axis;
  const study::Intervals& time;  // what begins in it is exported
  std::size_t process = 0;
  const ProcessRows& rows;
  Trace& trace;
  std::uint64_t track = 0;  // of the process

  // The number of the step, if it lies in one.
  void add_step(StepWalk& steps, std::int64_t t_ns, Notes& notes) const {
    if (const auto number = steps.number_at(t_ns); number) notes.add_signed(NoteName::kStep, *number);
  }
  std::uint64_t name(runfile::StringId id) const {
    return id == runfile::StringId::kEmpty ? trace.name(std::string_view("unnamed")) : trace.name(id);
  }
};

}  // namespace jaxprof::exporting

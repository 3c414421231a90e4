// What one process's spool says, as the rows that it becomes. All numbers are still the process's own, so that parts
// are made on any thread or machine, in any order, without knowing of each other; part_placer.h turns them into the
// run's.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "merge/assembly/call_store.h"
#include "merge/assembly/device_rows.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/launch_configs.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/step_table.h"
#include "merge/assembly/windows.h"
#include "merge/match/comm_members.h"
#include "merge/runfile/event_tables.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::assembly {

// How many rows of each table of a process are numbered by the run.
struct RowCounts {
  std::uint64_t nvtx = 0;
  std::uint64_t nccl = 0;
  std::uint64_t kernels = 0;
  std::uint64_t memops = 0;
  std::uint64_t api = 0;
  std::uint64_t overhead = 0;
  std::uint64_t graphs = 0;
  std::uint64_t syncs = 0;
  std::uint64_t cuda_events = 0;
  std::uint64_t nccl_work = 0;
  std::uint64_t steps = 0;
};

// All but the rows: what the run has to know to number them.
struct PartHead {
  runfile::StringTable strings;  // the texts of the rows
  LaunchConfigs configs;
  RowCounts counts;
  std::vector<match::ProcessComm> comms;
  std::vector<PartDevice> devices;  // by ordinal
  std::vector<Segment> segments;
  StepSet steps;
  std::uint64_t n_events = 0;
  double gpu_clock_residual_ns = std::numeric_limits<double>::quiet_NaN();  // NaN: CUPTI's clock was not read
  bool has_lost_gpu_work = false;
  Diagnostics findings;
};

// Times are absolute on the run's axis; texts are of head.strings; devices are CUDA's ordinals; launch_config is a row
// of head.configs; rows that point to rows point into this part.
struct ProcessPart {
  PartHead head;
  runfile::EventTables rows;  // but /events/nccl, /collectives and /transfers
  StoredCalls calls;          // /events/nccl
};

// Process `index` of /job/processes. A process without a clock has no rows. Any thread; `sources` is only read.
ProcessPart read_process(const RunSources& sources, std::size_t index);

}  // namespace jaxprof::assembly

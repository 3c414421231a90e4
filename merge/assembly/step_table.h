// Fills /steps, and says of it what a reader has to know: that there are none and why, or that the steps of different
// ranks cannot be laid side by side as they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/step_findings.h"
#include "merge/assembly/windows.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class StepRows {
 public:
  StepRows(runfile::RunTables* run, Diagnostics* diagnostics) : run_(run), diagnostics_(diagnostics) {}

  // The next process of /job/processes, with its ranges; without a clock it has none. Times as in fill_event_tables.
  void add(const SourceProcess& process, const match::NvtxRanges& nvtx, const std::vector<Segment>& segments);
  // After the last one: the run's marker, and the findings about its ranks together.
  void finish();

 private:
  runfile::RunTables* run_;
  Diagnostics* diagnostics_;
  std::uint32_t next_process_ = 0;
  std::vector<RankSteps> ranks_;                // of the processes so far
  std::map<std::string, UnmarkedSteps> marks_;  // by marker, as text
};

}  // namespace jaxprof::assembly

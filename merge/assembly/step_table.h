// /steps, and what a reader has to know of it: that there are none and why, or that the steps of different ranks cannot
// be laid side by side as they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/step_findings.h"
#include "merge/assembly/windows.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// What is to be known of the steps of one process, beside their rows.
struct StepSet {
  bool has_steps = false;
  // What is compared with other ranks; nothing for a process without a rank, or whose window never opened.
  std::optional<RankSteps> own;
  // What marked its steps, as text, and what there was besides; nothing if its spool does not say.
  std::string marker;
  std::optional<UnmarkedSteps> marks;
};

struct StepPart {
  runfile::StepTable rows;  // times absolute
  StepSet set;
};

// Of process `index` of /job/processes, with its ranges; without a clock it has none. Any thread.
StepPart read_steps(const SourceProcess& process, std::uint32_t index, const match::NvtxRanges& nvtx,
                    const std::vector<Segment>& segments, Diagnostics* diagnostics);

// All processes together.
class StepSummary {
 public:
  void add(const StepSet& part);
  // After the last one: the run's marker, and the findings about its ranks together.
  void finish(runfile::RunAttributes* attributes, Diagnostics* diagnostics) const;

 private:
  bool has_steps_ = false;
  std::vector<RankSteps> ranks_;
  std::map<std::string, UnmarkedSteps> marks_;  // by marker, as text
};

}  // namespace jaxprof::assembly

// What is to be said of steps: of one process's, whether their numbers and times can be what they seem; of all ranks'
// together, who lacks which; and where there are none, why, and how to have some.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agent/contract/step_marker.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/step_numbers.h"
#include "merge/assembly/windows.h"
#include "merge/match/steps.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// The steps of one process of a rank; a rank may have several.
struct RankSteps {
  std::int32_t rank = -1;
  StepNumbers numbers;
  // First and last number of each segment of its window, where it had several; what lies between two of them is not
  // missing.
  std::vector<std::pair<std::int64_t, std::int64_t>> stretches;
  std::uint32_t sources = 0;  // bit `StepSource`
  std::uint64_t shared = 0;   // numbers that several of its processes have
};

// A marker that was looked for, and what there was besides (match::ProcessSteps::alternatives).
struct UnmarkedSteps {
  StepMarker marker;
  std::map<std::string, std::uint64_t> alternatives;
  std::string windows;         // of the processes that looked for it, as jaxprof-exec takes them; "": always open
  bool was_ever_open = false;  // in one of these processes
};

// Rows from `begin` to the end of `steps` are those of one process.
RankSteps steps_of_rank(const runfile::StepTable& steps, std::size_t begin, std::int32_t rank);

// Of one process, the first and last of its steps in each segment; nothing for a window that opened once.
std::vector<std::pair<std::int64_t, std::int64_t>> stretches_of(const runfile::StepTable& steps, std::size_t begin,
                                                                const std::vector<Segment>& segments);

// Of one process, which `found` tells of beyond its rows; `told_by` begins each finding.
void diagnose_process_steps(const runfile::StepTable& steps, std::size_t begin, const match::ProcessSteps& found,
                            const Place& place, const std::string& told_by, Diagnostics* diagnostics);

// Of all processes that have a rank. A number that one rank has and another one has not is a finding about the latter.
void diagnose_ranks(const std::vector<RankSteps>& processes, Diagnostics* diagnostics);

// No process with this marker has a step, though it was not "none".
void diagnose_no_steps(const UnmarkedSteps& marks, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly

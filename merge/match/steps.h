// The steps of one process: the ranges that its agent counted as steps, with their numbers. What is a step was decided
// when the range began (agent/contract/step_marker.h); nothing is made up here, so that a step whose begin was not
// recorded is none. Where there is no step, this also says what there was instead.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/contract/step_marker.h"
#include "merge/match/nvtx_ranges.h"
#include "merge/runfile/enums.h"

namespace jaxprof::match {

struct Step {
  std::size_t range = 0;  // position in NvtxRanges::ranges
  std::int64_t number = 0;
  runfile::StepSource source = runfile::StepSource::kMissing;
};

struct ProcessSteps {
  std::vector<Step> steps;  // by their starts
  // Markers inside another step of their thread, which are no steps; and those inside one that never ended.
  std::uint64_t nested = 0;
  std::uint64_t swallowed = 0;
  // Steps that have a payload which is no number of a step: a float, or an integer of 2^63 and more.
  std::uint64_t unusable_payloads = 0;
  // Ranges that a slightly different marker would have taken, by what it would have to name: the domains of ranges with
  // the marker's name, or the XLA modules that were executed. Only where there are no steps.
  std::map<std::string, std::uint64_t> alternatives;
};

// What the process took for a step; false if its spool does not say, or not in words that are understood here.
bool read_step_marker(const rundir::SpoolTrace& trace, StepMarker* marker);

ProcessSteps find_steps(const rundir::SpoolTrace& trace, const StepMarker& marker, const NvtxRanges& nvtx);

}  // namespace jaxprof::match

// Arrivals over time: how far from the middle a rank came to one collective after the other, and how far all of them
// are apart beside what clocks can tell.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/straggler_facts.h"

namespace jaxprof::study {

// One rank at one collective.
struct CoursePoint {
  std::int64_t t_ns = 0;           // its arrival
  std::int64_t off_middle_ns = 0;  // against the median arrival
  std::int32_t step = -1;          // position in StepAxis::steps(); -1: none
};

// One collective, all members together.
struct CourseBand {
  std::int64_t t_ns = 0;      // the last arrival
  double std_ns = 0;          // of the members' arrivals against the middle
  std::int64_t clock_ns = 0;  // what the clocks of its nodes cannot tell apart (3 sigma); 0 on one node, -1 unknown
};

// Of resolved instances that are judged, by time. `ranks` are the arrivals' by kRank, `subject` one of them.
std::vector<CoursePoint> arrival_course(const StragglerFacts& facts, const Subjects& ranks, std::uint32_t subject);
std::vector<CourseBand> arrival_bands(const runfile::RunTables& run, const StragglerFacts& facts);

}  // namespace jaxprof::study

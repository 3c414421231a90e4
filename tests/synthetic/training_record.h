// What of a training job is in the spools, where a fault or a selection leaves something out.
#pragma once

#include <cstdint>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

// Has the rank a spool?
bool has_spool(const Run& run, std::uint32_t rank);
std::uint32_t first_recorded_step(const Run& run, std::uint32_t rank);
// Is the rank's call of that unit in its spool?
bool is_recorded(const Run& run, std::uint32_t rank, std::uint32_t step, std::uint32_t unit);
// Is it in those of all members? What a study can judge.
bool is_recorded_whole(const Run& run, const CourseInstance& instance);

}  // namespace jaxprof::synthetic

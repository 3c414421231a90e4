// /clock/model: the knots between which each node's raw clock is related to the axis by lines, from the node's first
// reading of a clock to its last, and how far the truth may be from them.
#pragma once

#include <cstdint>

#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

struct ModelKnot {
  std::int64_t raw_ns;   // CLOCK_MONOTONIC_RAW of the node
  std::int64_t time_ns;  // on the axis
};

// By how much the raw clock is slower than the axis between two knots, 1e-9; NaN if they are one.
double slope_ppb(const ModelKnot& from, const ModelKnot& to);

// Times are not yet relative to the epoch.
void fill_clock_model(const RunSources& sources, runfile::RunTables* run);

}  // namespace jaxprof::assembly

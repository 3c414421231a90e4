// Writes a synthetic run into a folder as a real one leaves it there: spools, the records of the tasks, and where
// clocks were asked for what the observers of the nodes measured.
#pragma once

#include <string>

#include "tests/synthetic/truth.h"

namespace jaxprof::synthetic {

// `directory` is made; it must not hold a run yet. Writes `n_threads` ranks at once.
Result<RunTruth> write_run(const Run& run, const std::string& directory, unsigned n_threads);

}  // namespace jaxprof::synthetic

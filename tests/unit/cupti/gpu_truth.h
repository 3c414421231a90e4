// What a job's GPUs really did, by the puppet's own log, and whether a spool says the same.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "tests/unit/cupti/gpu_run.h"

namespace jaxprof::test {

// What tells one run of a kernel from another in both logs: launch and graph node.
using KernelKey = std::pair<std::uint64_t, std::uint64_t>;
std::map<KernelKey, LogLine> true_kernels(const GpuRun& run);

// Every kernel of the truth is recorded once, with its name, its times and its stream.
void expect_all_kernels(const GpuRun& run, const rundir::SpoolTrace& trace);

// Launches that have a kernel on record.
std::set<std::uint64_t> recorded_correlations(const GpuRun& run, const rundir::SpoolTrace& trace);
// Those of the truth whose step is among `steps`.
std::set<std::uint64_t> launched_in(const GpuRun& run, const std::set<std::string>& steps);

}  // namespace jaxprof::test

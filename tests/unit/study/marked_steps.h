// Runs of processes that marked steps, for the studies' tests.
#pragma once

#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

struct MarkedStep {
  std::int64_t step = 0;
  std::int64_t start_ns = 0;
  std::int64_t dur_ns = 0;  // -1: never ended
};

// steps[p] are those of process p, which is rank p; a process lasts from 0 to 10 000 ns.
runfile::RunTables run_with_steps(const std::vector<std::vector<MarkedStep>>& steps);
// Adds steps to a run that has its processes.
void add_steps(runfile::RunTables& run, std::uint32_t process, const std::vector<MarkedStep>& steps);
void add_segment(runfile::RunTables& run, std::uint32_t process, std::uint32_t segment, std::int64_t open_ns,
                 std::int64_t close_ns);

}  // namespace jaxprof::study::test

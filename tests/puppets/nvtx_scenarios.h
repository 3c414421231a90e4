// Everything an NVTX tool has to cope with, as scenarios that can be run one by one: each makes a known number of
// calls (counted in NvtxCounts) and leaves no range open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/puppets/nvtx_counts.h"

namespace jaxprof::puppets {

struct ScenarioSettings {
  int n_threads = 4;
  std::uint64_t n_burst_ranges = 120'000;  // per thread, in `burst`
};

struct Scenario {
  const char* name;
  const char* text;  // for --help
  void (*run)(NvtxCounts& counts, const ScenarioSettings& settings);
};

// In the order in which they run by default.
const std::vector<Scenario>& scenarios();

// A few ranges in a domain of that name; what a forked child and the program after exec do.
void emit_few(NvtxCounts& counts, const std::string& domain);

}  // namespace jaxprof::puppets

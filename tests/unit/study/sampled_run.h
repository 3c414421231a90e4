// Runs with ports whose counters are known, for the studies' tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

struct Counter {
  std::string name;
  runfile::CounterUnit unit = runfile::CounterUnit::kBytes;
  std::vector<std::uint64_t> values;  // one a second
  runfile::CounterKind kind = runfile::CounterKind::kCounter;
  std::uint8_t bits = 64;
  std::uint32_t scale = 1;
  bool is_error = false;
};

struct Port {
  std::uint32_t node = 0;
  std::string name;
  std::string driver = "efa";
  double rate_gbps = 100;
  bool is_netdev = false;
  std::vector<Counter> counters;  // all of the same length
};

// `n_nodes` nodes n0, n1, …, each with an observer, and these ports. Rows are 1 s apart, read in no time.
runfile::RunTables sampled_run(std::uint32_t n_nodes, const std::vector<Port>& ports);

}  // namespace jaxprof::study::test

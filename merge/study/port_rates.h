// How fast each network port sent and received from reading to reading: what the network study sums up, over time.
// Pure.
#pragma once

#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/counter_growth.h"

namespace jaxprof::study {

struct PortRates {
  std::size_t nic = 0;          // row of /job/nics
  std::vector<GrowthSpan> out;  // bytes that it sent, by time
  std::vector<GrowthSpan> in;
};

// Ports with counters of bytes, in the order of /job/nics. Needs the columns of network_wants.
std::vector<PortRates> port_rates(const runfile::RunTables& run);

}  // namespace jaxprof::study

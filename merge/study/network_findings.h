// What in the traffic of ports a person should look at first. Pure.
#pragma once

#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/port_traffic.h"

namespace jaxprof::study {

// Less than this share of the interfaces' bytes, and RDMA was idle; interfaces that moved less than this were not busy.
inline constexpr double kIdleShare = 0.01;
inline constexpr double kBusyBytes = 256.0 * (1 << 20);
// A port with less than this share of the median of its siblings is far below them.
inline constexpr double kFarBelow = 0.5;

// One line each, the gravest first.
std::vector<std::string> network_findings(const runfile::RunTables& run, const std::vector<PortTraffic>& ports);

}  // namespace jaxprof::study

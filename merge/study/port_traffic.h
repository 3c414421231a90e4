// What each network port of a run did: bytes and packets by direction and kind, rates over the time that really passed,
// retransmits, congestion and errors. Pure: from the run's columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "merge/runfile/run_tables.h"
#include "merge/study/counter_growth.h"
#include "merge/study/traffic_words.h"

namespace jaxprof::study {

// A counter of errors, retransmits or congestion that grew.
struct GrownCounter {
  std::string name;
  Traffic kind = Traffic::kErrors;
  double total = 0;
};

// One kind of traffic of a port; counters that add up are one.
struct TrafficSum {
  double total = 0;
  std::optional<double> mean_per_s;
  std::optional<double> p99_per_s;  // of a hundred intervals or more, of one counter alone
  std::optional<double> peak_per_s;
};

struct PortTraffic {
  std::size_t nic = 0;     // row of /job/nics
  bool is_netdev = false;  // a network interface, whose counters hold no RDMA traffic
  std::array<std::optional<TrafficSum>, static_cast<std::size_t>(Traffic::kCount)> kinds;  // none: no such counter
  std::vector<GrownCounter> grown;     // retransmits, congestion and errors that are not 0, the largest first
  std::vector<std::string> saturated;  // counters at their end
  std::uint64_t resets = 0;            // of the counter that was reset most often

  const std::optional<TrafficSum>& of(Traffic traffic) const { return kinds[static_cast<std::size_t>(traffic)]; }
  // Out and in; none without counters of bytes.
  std::optional<double> bytes() const;
};

// The port's host and name, whatever is known of them; its number only where it is not the first: "mlx5_0/2".
std::string host_of_port(const runfile::RunTables& run, std::size_t nic);
std::string name_of_port(const runfile::RunTables& run, std::size_t nic);

// Ports that were read at least once, in the order of /job/nics.
std::vector<PortTraffic> port_traffic(const runfile::RunTables& run);

}  // namespace jaxprof::study

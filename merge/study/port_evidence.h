// What counters of network ports say of slow transfers: is it one port, which moves less than its peers and counts
// congestion, lost packets or retransmits, or does no port differ from the others?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "merge/runfile/run_tables.h"
#include "merge/study/intervals.h"

namespace jaxprof::study {

inline constexpr double kSlowPortShare = 0.8;       // of the bytes that its peers moved, in the median
inline constexpr double kTroubleOfPeers = 3;        // times as many troubles as its peers, in the median
inline constexpr std::size_t kLeastSamples = 3;     // in a stretch, to say anything of it
inline constexpr double kLeastPortBytes = 1 << 20;  // a port that moves less is not in use

struct SlowPort {
  std::uint32_t nic = 0;      // row of /job/nics
  double share_of_peers = 0;  // of the bytes of the median peer
  std::string trouble;        // counter that grew most
  double trouble_total = 0;   // by how much
};

struct PortEvidence {
  std::optional<SlowPort> port;
  std::size_t n_ports = 0;     // that were in use
  bool is_too_coarse = false;  // fewer than kLeastSamples of a port
  bool has_counters = false;
};

// Of ports of RDMA devices, in `when` (settled), and of counters that are read seldom from the reading before to the
// one behind it; peers are the other ports of one driver in the whole job. Not judged are fewer than three. None if
// more than a quarter of them would be slow.
PortEvidence find_slow_port(const runfile::RunTables& run, const Intervals& when);

// "mlx5_0 on n17 moved 0.33 of what its peers did, and counted 5120 out_of_sequence"
std::string words_of(const runfile::RunTables& run, const SlowPort& port);

}  // namespace jaxprof::study

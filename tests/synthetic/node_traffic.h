// What went over a node's ports in a training job, sampled: bytes of its collectives with other nodes, which each
// travel evenly from when all members are there, and what the card counts when that goes badly.
//
// A port that is slow moves less than its peers: collectives wait for it, and what it does not take goes over the
// node's other port, so that the node sends as much as the calls say.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

// Sums since the begin of the run.
struct PortSums {
  double bytes = 0;           // sent, and as many received
  double bad_packets = 0;     // out of those, lost on the port
  double marked_packets = 0;  // told of congestion
  double wait_ns = 0;         // had something to send, and could not
};

class NodeTraffic {
 public:
  // `times_ns` ascend. `run` has a course; it may go.
  NodeTraffic(const Run& run, std::uint32_t node, const std::vector<std::int64_t>& times_ns);
  // Of that port at times_ns[sample].
  const PortSums& at(std::uint32_t port, std::size_t sample) const { return sums_[sample][port]; }

 private:
  std::vector<std::array<PortSums, kPortsOfNode>> sums_;  // by sample
};

}  // namespace jaxprof::synthetic

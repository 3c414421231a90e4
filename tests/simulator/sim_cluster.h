// A simulated cluster whose observers compare their clocks as jaxprof-netsampler does: every node with the reference
// and with four others by rendezvous hashing, in bursts, with the kernel's stamps of CLOCK_REALTIME and the programs'
// own of CLOCK_MONOTONIC_RAW, over a network that delays, loses and prefers one direction. It gives readings and bursts
// one by one, since those of a large run do not fit into memory, and the truth at any instant. The same options give
// the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "agent/spool/clock_codec.h"
#include "tests/simulator/sim_clock.h"
#include "tests/simulator/sim_random.h"
#include "tests/simulator/sim_wall.h"

namespace jaxprof::test {

inline constexpr std::int64_t kSimSecondNs = 1'000'000'000;

struct SimNetwork {
  double base_ns = 25e3;     // one way
  double jitter_ns = 100e3;  // mean of what is added to packets that are not clean
  double clean_share = 0.2;
  double asymmetry_ns = 2e3;       // directions of a link differ by as much as this either way, and
  double skewed_share = 0;         // … of this share of the links
  double skewed_asymmetry_ns = 0;  // … by exactly this instead
  double loss = 0;                 // of exchanges
  double late = 0;                 // of replies: ten milliseconds behind, after their successors
  double missing_stamps = 0;       // of kernel stamps
  bool has_kernel_stamps = true;
};

// What happens to single nodes. Times are ns of true time.
struct SimFaults {
  struct OfNode {
    std::uint32_t node;
    SimJump jump;
  };
  std::vector<OfNode> jumps;
  std::vector<OfNode> source_changes;  // likewise, and the observer sees it
  std::vector<std::pair<std::uint32_t, SimWallEvent>> wall_events;
  std::vector<std::uint32_t> silent;  // never answer nor ask
  struct Span {
    std::uint32_t node;
    std::int64_t from_ns;
    std::int64_t to_ns;
  };
  std::vector<Span> absent;                 // neither answers nor asks in this time
  std::vector<std::uint32_t> liars;         // whose stamps differ by up to a millisecond from link to link
  std::int64_t clock_shift_ns = 0;          // added to the clock of
  std::uint32_t shifted_node = UINT32_MAX;  // … this node
};

struct SimOptions {
  std::uint32_t nodes = 16;
  std::uint32_t reference = 0;
  std::uint32_t peers = 4;  // besides the reference
  std::int64_t length_ns = 600 * kSimSecondNs;
  std::int64_t period_ns = 10 * kSimSecondNs;
  std::uint32_t exchanges = 16;        // of a burst, and
  std::uint32_t first_exchanges = 64;  // … of the first
  bool has_end_bursts = true;          // false: the job was killed
  std::uint64_t seed = 1;
  SimNetwork network;
  SimFaults faults;
};

class SimCluster {
 public:
  explicit SimCluster(SimOptions options);

  const SimOptions& options() const { return options_; }
  std::int64_t raw_ns(std::uint32_t node, std::int64_t true_ns) const { return clocks_[node].raw_ns(true_ns); }

  // What a node's observer reads ten times a second.
  void readings(std::uint32_t node, std::vector<spool::ClockReading>* to) const;
  // Links (client, server) by client.
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>& links() const { return links_; }
  // All bursts of links()[link], by time.
  void bursts(std::size_t link, const std::function<void(const spool::ProbeBurst&)>& take) const;
  // How much longer packets take from client to server than back, ns.
  double asymmetry_ns(std::size_t link) const;

 private:
  class Burst;
  SimClockOptions clock_options(std::uint32_t node) const;
  void choose_links();
  bool is_there(std::uint32_t node, std::int64_t true_ns) const;

  SimOptions options_;
  std::vector<SimClock> clocks_;
  std::vector<SimWall> walls_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;
};

}  // namespace jaxprof::test

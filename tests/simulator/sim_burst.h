// One burst of requests and replies between two simulated nodes: when each packet leaves a program, leaves the kernel,
// arrives and is seen, in true time, and what the clocks of both sides say of it.
#pragma once

#include <cstdint>

#include "agent/spool/clock_codec.h"
#include "tests/simulator/sim_clock.h"
#include "tests/simulator/sim_random.h"
#include "tests/simulator/sim_wall.h"

namespace jaxprof::test {

struct SimNetwork;

struct SimEnd {
  const SimClock* clock = nullptr;
  const SimWall* wall = nullptr;
};

class SimBurst {
 public:
  // `asymmetry_ns`: how much longer requests take than replies.
  SimBurst(const SimNetwork& network, double asymmetry_ns, SimEnd client, SimEnd server)
      : network_(network), asymmetry_ns_(asymmetry_ns), client_(client), server_(server) {}

  // The server's stamps are wrong by this from now on.
  void lie(std::int64_t by_ns) { lie_ns_ = by_ns; }

  // Appends the exchanges of the burst's `sent` requests that were answered.
  void fill(std::int64_t at_ns, SimRandom* random, spool::ProbeBurst* burst);

 private:
  double delay_ns(double extra_ns, SimRandom* random) const;

  const SimNetwork& network_;
  double asymmetry_ns_;
  SimEnd client_;
  SimEnd server_;
  std::int64_t lie_ns_ = 0;
  std::size_t client_place_ = 0;
  std::size_t server_place_ = 0;
};

}  // namespace jaxprof::test

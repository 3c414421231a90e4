#include "tests/simulator/sim_burst.h"

#include <algorithm>
#include <cmath>

#include "tests/simulator/sim_cluster.h"

namespace jaxprof::test {
namespace {

using spool::ProbeExchange;
using spool::Stamp;

constexpr double kSendNs = 1500;      // from the program to the kernel's stamp, at least, and
constexpr double kSendMoreNs = 1000;  // … on average more
constexpr double kWakeNs = 3000;      // from the kernel's stamp to the program
constexpr double kWakeMoreNs = 10'000;
constexpr double kAnswerNs = 2000;   // of the server's program
constexpr double kPauseNs = 30'000;  // between an answer and the next request
constexpr double kPatienceNs = 2e6;  // until the next request without an answer
constexpr double kLateNs = 10e6;
constexpr std::int64_t kLongestNs = 1'000'000'000;

}  // namespace

double SimBurst::delay_ns(double extra_ns, SimRandom* random) const {
  const double jitter_ns = random->chance(network_.clean_share) ? 0 : random->exponential(network_.jitter_ns);
  return network_.base_ns + extra_ns + jitter_ns;
}

void SimBurst::fill(std::int64_t at_ns, SimRandom* random, spool::ProbeBurst* burst) {
  const auto readers = [&](const SimEnd& end, std::size_t* place) {
    const bool is_smooth = !end.clock->has_jump(at_ns, at_ns + kLongestNs);
    const SimClock::Tangent tangent = end.clock->tangent(at_ns);
    return [end, place, is_smooth, tangent](double true_ns, bool is_wall) {
      const std::int64_t whole_ns = std::llround(true_ns);
      const std::int64_t raw_ns = is_smooth ? tangent.raw(whole_ns) : end.clock->raw_ns(whole_ns);
      return is_wall ? end.wall->wall_ns(raw_ns, place) : raw_ns;
    };
  };
  const auto client = readers(client_, &client_place_);
  const auto server = readers(server_, &server_place_);
  auto now_ns = static_cast<double>(at_ns);
  for (std::uint32_t i = 0; i < burst->sent; ++i) {
    const double sent_ns = now_ns;
    const double left_ns = sent_ns + kSendNs + random->exponential(kSendMoreNs);
    const double arrived_ns = left_ns + delay_ns(std::max(0.0, asymmetry_ns_), random);
    const double seen_ns = arrived_ns + kWakeNs + random->exponential(kWakeMoreNs);
    const double answered_ns = seen_ns + kAnswerNs;
    const double answer_left_ns = answered_ns + kSendNs + random->exponential(kSendMoreNs);
    double answer_arrived_ns = answer_left_ns + delay_ns(std::max(0.0, -asymmetry_ns_), random);
    const double next_ns = answer_arrived_ns + kPauseNs;
    const bool is_lost = random->chance(network_.loss);
    if (random->chance(network_.late)) answer_arrived_ns += kLateNs;
    const double answer_seen_ns = answer_arrived_ns + kWakeNs + random->exponential(kWakeMoreNs);
    now_ns = is_lost ? now_ns + kPatienceNs : next_ns + random->exponential(kPauseNs);
    if (is_lost) continue;
    ProbeExchange exchange;
    exchange.sequence = i;
    exchange.at(Stamp::kClientSendRaw) = client(sent_ns, false);
    exchange.at(Stamp::kServerReceiveRaw) = server(seen_ns, false) + lie_ns_;
    exchange.at(Stamp::kServerSendRaw) = server(answered_ns, false) + lie_ns_;
    exchange.at(Stamp::kClientReceiveRaw) = client(answer_seen_ns, false);
    const auto stamp = [&](Stamp which, std::int64_t wall_ns) {
      if (network_.has_kernel_stamps && !random->chance(network_.missing_stamps)) exchange.at(which) = wall_ns;
    };
    stamp(Stamp::kClientSendWall, client(left_ns, true));
    stamp(Stamp::kServerReceiveWall, server(arrived_ns, true) + lie_ns_);
    stamp(Stamp::kServerSendWall, server(answer_left_ns, true) + lie_ns_);
    stamp(Stamp::kClientReceiveWall, client(answer_arrived_ns, true));
    burst->exchanges.push_back(exchange);
  }
}

}  // namespace jaxprof::test

#include "tests/synthetic/node_clocks.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tests/simulator/sim_random.h"
#include "tests/synthetic/node_counters.h"
#include "tests/synthetic/run_records.h"
#include "tests/unit/rundir/node_spool.h"

namespace jaxprof::synthetic {
namespace {

using spool::IdentityKey;
using spool::Stamp;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kFirstBurstNs = 600'000'000;
constexpr std::int64_t kLastBurstNs = 200'000'000;  // before the end
constexpr std::int64_t kBurstPeriodNs = 10 * kSecondNs;
constexpr std::int64_t kReadingPeriodNs = kSecondNs / 10;
constexpr std::uint32_t kExchanges = 16;
constexpr double kMoreShare = 0.8;  // of a way: mean of what chance adds

class Observer {
 public:
  Observer(const Run& run, std::uint32_t node, std::int64_t end_ns)
      : run_(run),
        node_(node),
        end_ns_(end_ns),
        spool_(host_of(node)),
        way_ns_(static_cast<double>(run.plan().probe_way_ns)),
        random_(test::mix(run.plan().seed ^ 0x0b5e, node)) {
    spool_.set_text(IdentityKey::kRunId, kRunId);
    spool_.set_text(IdentityKey::kJobId, kJobId);
    spool_.set_text(IdentityKey::kBootId, boot_id_of(run.plan(), node));
  }

  void write(const std::string& state_directory) && {
    const std::vector<std::uint32_t> nodes = observed_nodes(run_.plan());
    spool_.clock_service("tsc", node_ == nodes.front(), stamp(kFirstBurstNs));
    read_clocks();
    // The reference, and the next node.
    const auto next = std::upper_bound(nodes.begin(), nodes.end(), node_);
    std::set<std::uint32_t> peers{nodes.front(), next != nodes.end() ? *next : nodes.front()};
    peers.erase(node_);
    for (const std::uint32_t peer : peers) ask(peer, peer == nodes.front());
    if (run_.plan().has_counters) write_counters(run_, node_, kFirstBurstNs, end_ns_, &spool_);
    spool_.write(state_directory);
  }

 private:
  std::int64_t raw(std::uint32_t node, std::int64_t true_ns) const { return run_.times().raw_ns(node, true_ns); }
  std::int64_t wall(std::uint32_t node, std::int64_t true_ns) const { return run_.times().wall_ns(node, true_ns); }
  std::uint64_t stamp(std::int64_t true_ns) const { return static_cast<std::uint64_t>(raw(node_, true_ns)); }
  std::int64_t some() { return static_cast<std::int64_t>(random_.exponential(way_ns_ * kMoreShare)); }
  // From one node to another, without what chance adds.
  std::int64_t way_to(std::uint32_t node) const {
    const bool is_crooked = run_.plan().crooked_ns != 0 && node == run_.plan().crooked_node;
    return run_.plan().probe_way_ns + (is_crooked ? run_.plan().crooked_ns : 0);
  }

  void read_clocks() {
    std::vector<spool::ClockReading> readings;
    for (std::int64_t t = kFirstBurstNs; t <= end_ns_; t += kReadingPeriodNs) {
      readings.push_back({raw(node_, t), wall(node_, t), raw(node_, t), 40});
    }
    spool_.clock_readings(readings);
    for (std::int64_t t = kFirstBurstNs; t < end_ns_ + kSecondNs; t += kSecondNs) {
      const std::int64_t at = std::min(t, end_ns_);
      spool_.anchor({stamp(at), raw(node_, at), wall(node_, at), raw(node_, at), 40});
    }
  }

  void ask(std::uint32_t peer, bool is_reference) {
    spool::ClockPeerState state{};
    state.peer = peer;
    state.is_reference = is_reference ? 1 : 0;
    state.host = spool_.string(host_of(peer));
    state.boot_id = spool_.string(boot_id_of(run_.plan(), peer));
    state.network_namespace = peer;
    state.stamp = stamp(kFirstBurstNs);
    spool_.state(spool::StateKind::kClockPeer, state);
    burst(peer, spool::BurstKind::kStart, kFirstBurstNs);
    for (std::int64_t t = kFirstBurstNs + kBurstPeriodNs; t < end_ns_ - kSecondNs; t += kBurstPeriodNs) {
      burst(peer, spool::BurstKind::kPeriodic, t);
    }
    burst(peer, spool::BurstKind::kEnd, end_ns_ - kLastBurstNs);
  }

  void burst(std::uint32_t peer, spool::BurstKind kind, std::int64_t t) {
    spool::ProbeBurst burst{peer, bursts_++, kind, kExchanges, {}};
    for (std::uint32_t sequence = 0; sequence < kExchanges; ++sequence) {
      const std::int64_t arrival = t + way_to(peer) + some();
      const std::int64_t answer = arrival + 20'000 + some();
      const std::int64_t back = answer + way_to(node_) + some();
      spool::ProbeExchange exchange;
      exchange.sequence = sequence;
      exchange.at(Stamp::kClientSendRaw) = raw(node_, t - 3'000);
      exchange.at(Stamp::kClientSendWall) = wall(node_, t);
      exchange.at(Stamp::kServerReceiveWall) = wall(peer, arrival);
      exchange.at(Stamp::kServerReceiveRaw) = raw(peer, arrival + 8'000);
      exchange.at(Stamp::kServerSendRaw) = raw(peer, answer - 4'000);
      exchange.at(Stamp::kServerSendWall) = wall(peer, answer);
      exchange.at(Stamp::kClientReceiveWall) = wall(node_, back);
      exchange.at(Stamp::kClientReceiveRaw) = raw(node_, back + 7'000);
      burst.exchanges.push_back(exchange);
      t = back + 100'000;
    }
    spool_.clock_burst(burst);
  }

  const Run& run_;
  const std::uint32_t node_;
  const std::int64_t end_ns_;
  test::NodeSpool spool_;
  const double way_ns_;
  test::SimRandom random_;
  std::uint32_t bursts_ = 0;
};

}  // namespace

std::vector<std::uint32_t> observed_nodes(const RunPlan& plan) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < plan.processes; ++rank) {
    const bool is_traced = !plan.training || plan.training->is_traced(rank);
    const std::uint32_t node = plan.node_of(rank);
    if (is_traced && (nodes.empty() || nodes.back() != node)) nodes.push_back(node);
  }
  return nodes;
}

void write_node_spool(const Run& run, std::uint32_t node, std::int64_t end_ns, const std::string& state_directory) {
  Observer(run, node, end_ns).write(state_directory);
}

}  // namespace jaxprof::synthetic

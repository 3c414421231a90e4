#include "tests/synthetic/node_traffic.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

constexpr double kPacketBytes = 4096;
// Of the packets of a sound port, of one that is slow, and of all where the network is.
constexpr double kMarkedShare = 1e-5;
constexpr double kMarkedOfSlowPort = 1e-2;
constexpr double kMarkedOfSlowNetwork = 5e-3;
constexpr double kBadOfSlowPort = 1e-3;
// Of the time of a transfer.
constexpr double kWaitShare = 0.01;
constexpr double kWaitOfSlow = 0.4;
constexpr double kNoise = 0.005;  // of how the node's bytes are shared out to its ports

// What one transfer gives to a port.
using Gains = std::array<PortSums, kPortsOfNode>;

bool is_on_node(const RunPlan& plan, const Comm& comm, std::uint32_t node) {
  for (std::uint32_t i = 0; i < comm.size; ++i) {
    if (plan.node_of(comm.member(i)) == node) return true;
  }
  return false;
}

// How much slower each port is.
std::array<double, kPortsOfNode> factors_of(const RunPlan& plan, std::uint32_t node, std::uint32_t step) {
  std::array<double, kPortsOfNode> factors{};
  factors.fill(1);
  for (const Slowdown& slowdown : plan.training->slowdowns) {
    const bool is_own = slowdown.kind == SlowdownKind::kSlowNic && slowdown.number == node && slowdown.is_in(step);
    if (is_own) factors[slowdown.port] *= slowdown.factor;
  }
  return factors;
}

Gains gains_of(const RunPlan& plan, std::uint32_t node, const CourseInstance& instance, test::SimRandom* random) {
  const auto factors = factors_of(plan, node, instance.step);
  const bool is_network_slow = std::any_of(
      plan.training->slowdowns.begin(), plan.training->slowdowns.end(), [&instance](const Slowdown& slowdown) {
        return slowdown.kind == SlowdownKind::kSlowNetwork && slowdown.is_in(instance.step);
      });
  std::array<double, kPortsOfNode> weights{};
  double sum = 0;
  for (std::size_t port = 0; port < kPortsOfNode; ++port) {
    weights[port] = (1 + random->uniform(-kNoise, kNoise)) / factors[port];
    sum += weights[port];
  }
  Gains gains;
  for (std::size_t port = 0; port < kPortsOfNode; ++port) {
    const bool is_slow = factors[port] > 1;
    PortSums& own = gains[port];
    own.bytes = static_cast<double>(instance.node_bytes) * weights[port] / sum;
    const double packets = own.bytes / kPacketBytes * random->uniform(0.9, 1.1);
    own.bad_packets = is_slow ? packets * kBadOfSlowPort : 0;
    own.marked_packets = packets * (is_slow           ? kMarkedOfSlowPort
                                    : is_network_slow ? kMarkedOfSlowNetwork
                                                      : kMarkedShare);
    own.wait_ns = static_cast<double>(instance.transfer_ns) * (is_slow || is_network_slow ? kWaitOfSlow : kWaitShare) *
                  random->uniform(0.5, 1.5);
  }
  return gains;
}

}  // namespace

NodeTraffic::NodeTraffic(const Run& run, std::uint32_t node, const std::vector<std::int64_t>& times_ns)
    : sums_(times_ns.size()) {
  test::SimRandom random(test::mix(run.plan().seed ^ 0x7aff, node));
  for (const CourseInstance& instance : run.course()->instances()) {
    if (instance.node_bytes == 0 || !is_on_node(run.plan(), instance.comm, node)) continue;
    const Gains gains = gains_of(run.plan(), node, instance, &random);
    double before = 0;  // share of the transfer
    const auto first = std::upper_bound(times_ns.begin(), times_ns.end(), instance.last_ns);
    for (auto at = first; at != times_ns.end() && before < 1; ++at) {
      const double share =
          std::min(1.0, static_cast<double>(*at - instance.last_ns) / static_cast<double>(instance.transfer_ns));
      auto& sums = sums_[static_cast<std::size_t>(at - times_ns.begin())];
      for (std::size_t port = 0; port < kPortsOfNode; ++port) {
        sums[port].bytes += gains[port].bytes * (share - before);
        sums[port].bad_packets += gains[port].bad_packets * (share - before);
        sums[port].marked_packets += gains[port].marked_packets * (share - before);
        sums[port].wait_ns += gains[port].wait_ns * (share - before);
      }
      before = share;
    }
  }
  for (std::size_t sample = 1; sample < sums_.size(); ++sample) {
    for (std::size_t port = 0; port < kPortsOfNode; ++port) {
      sums_[sample][port].bytes += sums_[sample - 1][port].bytes;
      sums_[sample][port].bad_packets += sums_[sample - 1][port].bad_packets;
      sums_[sample][port].marked_packets += sums_[sample - 1][port].marked_packets;
      sums_[sample][port].wait_ns += sums_[sample - 1][port].wait_ns;
    }
  }
}

}  // namespace jaxprof::synthetic

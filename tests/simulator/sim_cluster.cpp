#include "tests/simulator/sim_cluster.h"

#include <algorithm>
#include <cmath>

#include "tests/simulator/sim_burst.h"

namespace jaxprof::test {
namespace {

constexpr std::int64_t kReadingNs = 100'000'000;
constexpr double kLieNs = 1e6;
enum Stream : std::uint64_t { kClockStream, kWallStream, kReadingStream, kLinkStream, kPeerStream, kAsymmetryStream };

std::uint64_t stream_of(std::uint64_t seed, Stream stream, std::uint64_t number) {
  return mix(mix(seed, stream), number);
}

}  // namespace

SimCluster::SimCluster(SimOptions options) : options_(std::move(options)) {
  clocks_.reserve(options_.nodes);
  walls_.reserve(options_.nodes);
  for (std::uint32_t node = 0; node < options_.nodes; ++node) {
    clocks_.emplace_back(clock_options(node), options_.length_ns,
                         SimRandom(stream_of(options_.seed, kClockStream, node)));
    std::vector<SimWallEvent> events;
    for (const auto& [of, event] : options_.faults.wall_events) {
      if (of == node) events.push_back(event);
    }
    walls_.emplace_back(clocks_.back(), options_.length_ns, events,
                        SimRandom(stream_of(options_.seed, kWallStream, node)));
  }
  choose_links();
}

SimClockOptions SimCluster::clock_options(std::uint32_t node) const {
  SimRandom random(stream_of(options_.seed, kClockStream, options_.nodes + node));
  SimClockOptions clock;
  // Up for minutes to weeks; and a thousand seconds either way, as if clocks were only roughly alike.
  clock.raw_at_start_ns = std::llround(random.uniform(3600e9, 1.5e15)) + std::llround(random.uniform(-1000e9, 1000e9));
  if (node == options_.faults.shifted_node) clock.raw_at_start_ns += options_.faults.clock_shift_ns;
  clock.crystal_ppm = random.uniform(-50, 50);
  clock.thermal_ppm = random.uniform(-1, 1);
  clock.wobble_ppm = 0.1;
  clock.wobble_period_s = random.uniform(60, 300);
  clock.random_walk = 1e-9;
  for (const auto& faults : {options_.faults.jumps, options_.faults.source_changes}) {
    for (const SimFaults::OfNode& fault : faults) {
      if (fault.node == node) clock.jumps.push_back(fault.jump);
    }
  }
  std::sort(clock.jumps.begin(), clock.jumps.end(), [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  return clock;
}

void SimCluster::choose_links() {
  for (std::uint32_t client = 0; client < options_.nodes; ++client) {
    if (client != options_.reference) links_.emplace_back(client, options_.reference);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> others;
    for (std::uint32_t other = 0; other < options_.nodes; ++other) {
      if (other == client || other == options_.reference || client == options_.reference) continue;
      others.emplace_back(mix(stream_of(options_.seed, kPeerStream, client), other), other);
    }
    const auto wanted = static_cast<std::ptrdiff_t>(std::min<std::size_t>(options_.peers, others.size()));
    std::partial_sort(others.begin(), others.begin() + wanted, others.end());
    for (std::ptrdiff_t i = 0; i < wanted; ++i) links_.emplace_back(client, others[static_cast<std::size_t>(i)].second);
  }
}

bool SimCluster::is_there(std::uint32_t node, std::int64_t true_ns) const {
  const SimFaults& faults = options_.faults;
  return std::find(faults.silent.begin(), faults.silent.end(), node) == faults.silent.end() &&
         std::none_of(faults.absent.begin(), faults.absent.end(), [&](const SimFaults::Span& span) {
           return span.node == node && span.from_ns <= true_ns && true_ns < span.to_ns;
         });
}

double SimCluster::asymmetry_ns(std::size_t link) const {
  const auto [client, server] = links_[link];
  const std::uint64_t a = std::min(client, server);
  const std::uint64_t b = std::max(client, server);
  SimRandom random(stream_of(options_.seed, kAsymmetryStream, a * options_.nodes + b));
  const SimNetwork& network = options_.network;
  double asymmetry = random.uniform(-network.asymmetry_ns, network.asymmetry_ns);
  if (random.chance(network.skewed_share)) {
    asymmetry = random.chance(0.5) ? network.skewed_asymmetry_ns : -network.skewed_asymmetry_ns;
  }
  return client < server ? asymmetry : -asymmetry;
}

void SimCluster::readings(std::uint32_t node, std::vector<spool::ClockReading>* to) const {
  to->clear();
  SimRandom random(stream_of(options_.seed, kReadingStream, node));
  std::size_t place = 0;
  for (std::int64_t at_ns = 0; at_ns <= options_.length_ns + kReadingNs; at_ns += kReadingNs) {
    const std::int64_t begin_ns = at_ns + std::llround(random.uniform(0, 1e6));
    double bracket_ns = 40 + random.exponential(15);
    if (random.chance(0.002)) bracket_ns += random.exponential(20e3);  // something came between
    const std::int64_t wall_at_ns = begin_ns + std::llround(random.uniform(0, bracket_ns));
    spool::ClockReading reading;
    reading.raw_ns = clocks_[node].raw_ns(begin_ns);
    reading.wall_ns = walls_[node].wall_ns(clocks_[node].raw_ns(wall_at_ns), &place);
    reading.monotonic_ns = clocks_[node].raw_ns(wall_at_ns);
    reading.bracket_ns = static_cast<std::uint32_t>(std::ceil(bracket_ns));
    to->push_back(reading);
  }
}

void SimCluster::bursts(std::size_t link, const std::function<void(const spool::ProbeBurst&)>& take) const {
  const std::uint32_t client = links_[link].first;
  const std::uint32_t server = links_[link].second;
  if (!is_there(client, 0) && !is_there(client, options_.length_ns)) return;
  SimRandom random(stream_of(options_.seed, kLinkStream, link));
  const SimFaults& faults = options_.faults;
  const auto lies = [&faults](std::uint32_t node) {
    return std::find(faults.liars.begin(), faults.liars.end(), node) != faults.liars.end();
  };
  // Drawn before anything that depends on faults, so that a fault of one node leaves the others' packets as they were.
  const double lie_ns = random.uniform(-kLieNs, kLieNs);
  SimBurst burst(options_.network, asymmetry_ns(link), {&clocks_[client], &walls_[client]},
                 {&clocks_[server], &walls_[server]});
  if (lies(client) || lies(server)) burst.lie(std::llround(lie_ns));
  spool::ProbeBurst made;
  made.peer = server;
  const auto make = [&](std::int64_t at_ns, spool::BurstKind kind, std::uint32_t exchanges) {
    SimRandom packets(random.next());
    made.kind = kind;
    made.sent = exchanges;
    made.exchanges.clear();
    if (!is_there(client, at_ns)) return;
    if (is_there(server, at_ns)) burst.fill(at_ns, &packets, &made);
    take(made);
    ++made.burst;
  };
  auto at_ns = std::llround(random.uniform(0, 2e9));
  make(at_ns, spool::BurstKind::kStart, options_.first_exchanges);
  for (;;) {
    at_ns += std::llround(static_cast<double>(options_.period_ns) * random.uniform(0.8, 1.2));
    if (at_ns >= options_.length_ns) break;
    make(at_ns, spool::BurstKind::kPeriodic, options_.exchanges);
  }
  if (options_.has_end_bursts) make(options_.length_ns, spool::BurstKind::kEnd, options_.first_exchanges);
}

}  // namespace jaxprof::test

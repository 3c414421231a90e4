// What asking other nodes' clocks costs, and how right it is. An exchange of two engines (MAC, kernel stamps, checks)
// is compared with a bare ping-pong of packets of the same size between two plain sockets: all ends in this one thread,
// so that nobody sleeps, in turns, and of each the best of many turns. Figures are processor time of both ends
// together. Then a second process answers, as in a run: what a node with eight neighbours takes of a core when it talks
// to each every ten seconds, wake-ups included, and what it sends; how far the offset of a burst is from the true one,
// which is zero on one machine, and how wide its bound is.
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "netsampler/clock/probe_engine.h"

namespace {

using namespace jaxprof;
using netsampler::ProbeEngine;
using spool::Stamp;

constexpr int kTurns = 30;
constexpr std::uint32_t kLong = 64;  // exchanges
constexpr int kBursts = 60;
constexpr double kNeighbours = 8;
constexpr double kExchanges = 16;
constexpr double kPeriodS = 10;
constexpr double kWireBytes = netsampler::kPacketBytes + 8 + 20 + 14;  // UDP, IPv4, Ethernet
constexpr std::int64_t kSecondNs = 1'000'000'000;

using Bursts = std::vector<spool::ProbeBurst>;

std::unique_ptr<ProbeEngine> open_engine(std::uint64_t node, bool wants_kernel_stamps, Bursts* bursts) {
  netsampler::ProbeEngineOptions options;
  options.bind = *netsampler::parse_address("127.0.0.1", 0);
  options.run_id = "1.0.0";
  options.node = node;
  options.wants_kernel_stamps = wants_kernel_stamps;
  auto engine = ProbeEngine::open(options, [bursts](const spool::ProbeBurst& burst) { bursts->push_back(burst); });
  if (engine) return std::move(*engine);
  std::fprintf(stderr, "%s\n", engine.error().message.c_str());
  return nullptr;
}

netsampler::ProbeTarget target_of(std::uint16_t port) {
  return {*netsampler::parse_address("127.0.0.1", port), 2, 0};
}

// Processor time of `work` in ns.
template <typename Work>
double cost_ns(const Work& work) {
  const std::int64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  work();
  return static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
}

// Two plain sockets that have agreed on nothing.
class PingPong {
 public:
  PingPong() {
    for (std::size_t i = 0; i < fds_.size(); ++i) {
      fds_[i].reset(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
      addresses_[i].sin_family = AF_INET;
      addresses_[i].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      socklen_t size = sizeof addresses_[i];
      auto* const address = reinterpret_cast<sockaddr*>(&addresses_[i]);
      is_open_ = is_open_ && bind(fds_[i].get(), address, size) == 0 && getsockname(fds_[i].get(), address, &size) == 0;
    }
  }
  bool is_open() const { return is_open_; }
  void exchange() {
    pass(0, 1);
    pass(1, 0);
  }

 private:
  void pass(std::size_t from, std::size_t to) {
    std::array<char, netsampler::kPacketBytes> packet{};
    sendto(fds_[from].get(), packet.data(), packet.size(), 0, reinterpret_cast<const sockaddr*>(&addresses_[to]),
           sizeof addresses_[to]);
    pollfd fd{fds_[to].get(), POLLIN, 0};
    poll(&fd, 1, 1000);
    static_cast<void>(recv(fds_[to].get(), packet.data(), packet.size(), 0));
  }

  std::array<UniqueFd, 2> fds_;
  std::array<sockaddr_in, 2> addresses_{};
  bool is_open_ = true;
};

// False if not even one burst was whole.
bool measure_cost() {
  Bursts bursts;
  Bursts none;
  const auto client = open_engine(1, true, &bursts);
  const auto server = open_engine(2, true, &none);
  PingPong bare;
  if (!client || !server || !bare.is_open()) return false;
  double bare_ns = 1e18;
  double probe_ns = 1e18;
  for (int turn = 0; turn < kTurns; ++turn) {
    bare_ns = std::min(bare_ns, cost_ns([&bare] {
                                  for (std::uint32_t i = 0; i < kLong; ++i) bare.exchange();
                                }) / kLong);
    client->enqueue_burst(target_of(server->port()), spool::BurstKind::kPeriodic, kLong);
    const double cost = cost_ns([&client, &server] {
      while (client->n_pending() > 0) {
        client->run_until(INT64_MIN, -1);
        server->run_until(INT64_MIN, -1);
      }
    });
    if (bursts.back().exchanges.size() == kLong) probe_ns = std::min(probe_ns, cost / kLong);
    // The server admits 2000 packets a second from one address.
    usleep(35'000);
  }
  if (probe_ns > 1e17) return false;
  std::printf("clock_probe.exchange_us          %.2f\n", probe_ns / 1000);
  std::printf("clock_probe.exchange_to_bare     %.2f\n", probe_ns / bare_ns);
  return true;
}

struct Width {
  double error_us;
  double half_width_us;
};

// Of the offsets that no exchange of the burst excludes; the true one is 0.
Width envelope(const spool::ProbeBurst& burst, const std::array<Stamp, 4>& stamps) {
  std::int64_t high = INT64_MAX;
  std::int64_t low = INT64_MIN;
  for (const spool::ProbeExchange& exchange : burst.exchanges) {
    for (const Stamp stamp : stamps) {
      if (!exchange.has(stamp)) return {1e9, 1e9};
    }
    high = std::min(high, exchange.at(stamps[1]) - exchange.at(stamps[0]));
    low = std::max(low, exchange.at(stamps[2]) - exchange.at(stamps[3]));
  }
  return {std::abs(static_cast<double>(high + low)) / 2e3, static_cast<double>(high - low) / 2e3};
}

void print_widths(const char* name, const Bursts& bursts, const std::array<Stamp, 4>& stamps) {
  std::vector<double> errors;
  std::vector<double> widths;
  for (const spool::ProbeBurst& burst : bursts) {
    if (burst.exchanges.empty()) continue;
    const Width width = envelope(burst, stamps);
    errors.push_back(width.error_us);
    widths.push_back(width.half_width_us);
  }
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  std::sort(widths.begin(), widths.end());
  std::printf("clock_probe.%s.error_us_median    %.3f\n", name, errors[errors.size() / 2]);
  std::printf("clock_probe.%s.error_us_most      %.3f\n", name, errors.back());
  std::printf("clock_probe.%s.bound_us_median    %.3f\n", name, widths[widths.size() / 2]);
}

// A process that answers until `stop` is closed.
pid_t start_server(bool wants_kernel_stamps, std::uint16_t* port, UniqueFd* stop) {
  std::array<int, 2> ports{};
  std::array<int, 2> stops{};
  if (pipe(ports.data()) != 0 || pipe(stops.data()) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    close(stops[1]);
    Bursts none;
    const auto server = open_engine(2, wants_kernel_stamps, &none);
    *port = server ? server->port() : 0;
    static_cast<void>(!write(ports[1], port, sizeof *port));
    if (server) server->run_until(clock_ns(CLOCK_MONOTONIC_RAW) + 600 * kSecondNs, stops[0]);
    _exit(0);
  }
  close(stops[0]);
  close(ports[1]);
  stop->reset(stops[1]);
  static_cast<void>(!read(ports[0], port, sizeof *port));
  close(ports[0]);
  return child;
}

bool measure_between_processes(const char* name, bool wants_kernel_stamps, const std::array<Stamp, 4>& stamps) {
  std::uint16_t port = 0;
  UniqueFd stop;
  const pid_t child = start_server(wants_kernel_stamps, &port, &stop);
  Bursts bursts;
  const auto client = child > 0 && port != 0 ? open_engine(1, wants_kernel_stamps, &bursts) : nullptr;
  if (!client) return false;
  const double cost = cost_ns([&] {
    for (int i = 0; i < kBursts; ++i) {
      client->enqueue_burst(target_of(port), spool::BurstKind::kPeriodic, static_cast<std::uint32_t>(kExchanges));
      while (client->n_pending() > 0) client->run_until(clock_ns(CLOCK_MONOTONIC_RAW) + kSecondNs / 1000, -1);
      usleep(10'000);
    }
  });
  const double n_packets = static_cast<double>(client->counts().sent + client->counts().received);
  stop.reset();
  waitpid(child, nullptr, 0);
  if (wants_kernel_stamps) {
    const double bursts_a_second = kNeighbours / kPeriodS;
    std::printf("clock_probe.8_neighbours.core_percent  %.4f\n", cost / kBursts * bursts_a_second / 1e9 * 100);
    std::printf("clock_probe.8_neighbours.bytes_a_second  %.0f\n", n_packets / kBursts * kWireBytes * bursts_a_second);
  }
  print_widths(name, bursts, stamps);
  return true;
}

}  // namespace

int main() {
  constexpr std::array kKernel = {Stamp::kClientSendWall, Stamp::kServerReceiveWall, Stamp::kServerSendWall,
                                  Stamp::kClientReceiveWall};
  constexpr std::array kOwn = {Stamp::kClientSendRaw, Stamp::kServerReceiveRaw, Stamp::kServerSendRaw,
                               Stamp::kClientReceiveRaw};
  const bool is_measured = measure_cost() && measure_between_processes("kernel", true, kKernel) &&
                           measure_between_processes("own", false, kOwn);
  return is_measured ? 0 : 1;
}

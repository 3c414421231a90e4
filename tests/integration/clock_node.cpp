// clock_node: the probe engine as a program, so that tests can put one into each network namespace and see what it
// measures. It knows no run: the test says by standard input whom to ask, and reads what came of it as lines of JSON.
//
//   clock_node BIND PORTS NODE TOKEN_FILE STAMPS   BIND an IP literal; PORTS LO-HI, 0-0 any; STAMPS kernel or own
//   ask ADDRESS PORT NODE PEER COUNT               a burst of COUNT exchanges; answered by {"burst": …} when it ends
//   count                                          answered by {"counts": …}: packets, and processor time so far
//   end of input                                   ends the program
//
// The first line on standard output is {"port": …, "stamps": …}. Times are in ns.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

#include "agent/base/clocks.h"
#include "netsampler/clock/probe_engine.h"

namespace {

using namespace jaxprof;

constexpr std::int64_t kHour = 3'600'000'000'000;

void print_burst(const spool::ProbeBurst& burst) {
  std::printf(R"({"burst": %u, "peer": %u, "sent": %u, "exchanges": [)", burst.burst, burst.peer, burst.sent);
  const char* separator = "";
  for (const spool::ProbeExchange& exchange : burst.exchanges) {
    std::printf("%s[%u", separator, exchange.sequence);
    for (const std::int64_t stamp : exchange.stamps_ns) {
      if (stamp == spool::kNoStamp) {
        std::printf(", null");
      } else {
        std::printf(", %lld", static_cast<long long>(stamp));
      }
    }
    std::printf("]");
    separator = ", ";
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

void print_counts(const netsampler::ProbeEngine& engine) {
  const netsampler::ProbeCounts& counts = engine.counts();
  const auto print = [](const char* name, std::uint64_t value) {
    std::printf(R"("%s": %llu, )", name, static_cast<unsigned long long>(value));
  };
  std::printf(R"({"counts": {)");
  print("sent", counts.sent);
  print("received", counts.received);
  print("wrong_size", counts.wrong_size);
  print("wrong_mac", counts.wrong_mac);
  print("wrong_node", counts.wrong_node);
  print("replayed", counts.replayed);
  print("rate_limited", counts.rate_limited);
  print("unpaired", counts.unpaired);
  print("send_failed", counts.send_failed);
  print("stamps", engine.stamps());
  std::printf(R"("cpu_ns": %lld}})"
              "\n",
              static_cast<long long>(clock_ns(CLOCK_PROCESS_CPUTIME_ID)));
  std::fflush(stdout);
}

bool do_line(const std::string& line, netsampler::ProbeEngine* engine) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "count") {
    print_counts(*engine);
    return true;
  }
  std::string literal;
  std::uint16_t port = 0;
  netsampler::ProbeTarget target;
  std::uint32_t count = 0;
  if (verb != "ask" || !(words >> literal >> port >> target.node >> target.peer >> count)) return false;
  const auto address = netsampler::parse_address(literal, port);
  if (!address) return false;
  target.address = *address;
  return engine->enqueue_burst(target, spool::BurstKind::kPeriodic, count);
}

// 1 at a line that is none.
int serve(netsampler::ProbeEngine* engine) {
  std::string pending;
  std::array<char, 4096> piece{};
  for (;;) {
    engine->run_until(clock_ns(CLOCK_MONOTONIC_RAW) + kHour, STDIN_FILENO);
    const ssize_t size = read(STDIN_FILENO, piece.data(), piece.size());
    if (size <= 0) return 0;
    pending.append(piece.data(), static_cast<std::size_t>(size));
    for (std::size_t end = 0; (end = pending.find('\n')) != std::string::npos; pending.erase(0, end + 1)) {
      if (!do_line(pending.substr(0, end), engine)) {
        std::fprintf(stderr, "clock_node: cannot do: %s\n", pending.substr(0, end).c_str());
        return 1;
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: clock_node BIND LO-HI NODE TOKEN_FILE kernel|own\n");
    return 2;
  }
  netsampler::ProbeEngineOptions options;
  const auto bind = netsampler::parse_address(argv[1], 0);
  unsigned low = 0;
  unsigned high = 0;
  if (!bind || std::sscanf(argv[2], "%u-%u", &low, &high) != 2) return 2;
  options.bind = *bind;
  options.ports = {static_cast<std::uint16_t>(low), static_cast<std::uint16_t>(high)};
  options.node = std::strtoull(argv[3], nullptr, 10);
  options.run_id = "7.0.0";
  options.wants_kernel_stamps = std::string(argv[5]) == "kernel";
  const auto token = netsampler::take_clock_token(argv[4]);
  if (!token) {
    std::fprintf(stderr, "clock_node: %s\n", token.error().message.c_str());
    return 1;
  }
  options.token = *token;
  auto engine = netsampler::ProbeEngine::open(options, print_burst);
  if (!engine) {
    std::fprintf(stderr, "clock_node: %s\n", engine.error().message.c_str());
    return 1;
  }
  std::printf("{\"port\": %u, \"stamps\": %u}\n", (*engine)->port(), (*engine)->stamps());
  std::fflush(stdout);
  return serve(engine->get());
}

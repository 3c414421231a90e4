// How many events a second a rank may have. First a million a second from four threads, which must come through without
// a loss: two million, or ten with JAXPROF_FULL=1. Then as many as four threads can make with rings of 64 KiB, which is
// more than the drain thread can take: what is not recorded must be counted, to the event. What is recorded is counted
// in the spool, by its decoder, and not asked of the agent.
//
// Usage: rate_bench AGENT [FOLDER]; prints "NAME VALUE UNIT" lines. Exit status 1 for a loss, or an event too few.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "agent/spool/event_codec.h"
#include "agent/spool/spool_reader.h"
#include "tests/bench/bench_session.h"

namespace {

using jaxprof::bench::BenchSession;

constexpr int kThreads = 4;
constexpr std::uint64_t kEventsPerSecond = 1'000'000;
constexpr std::uint64_t kImpossibleEvents = 4'000'000;
constexpr std::uint32_t kSmallRingBytes = 64 << 10;
constexpr auto kTick = std::chrono::milliseconds(1);

// A range is two events.
void write_ranges(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    nvtxRangePushA("forward/attention/softmax, layer 17");
    nvtxRangePop();
  }
}

// `per_tick` 0: as fast as they come.
void write_from_threads(std::uint64_t ranges, std::uint64_t per_tick) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([=] {
      auto next = std::chrono::steady_clock::now();
      for (std::uint64_t done = 0; per_tick != 0 && done < ranges; done += per_tick) {
        write_ranges(per_tick);
        std::this_thread::sleep_until(next += kTick);
      }
      if (per_tick == 0) write_ranges(ranges);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Runs the program in a process of its own and ends it as programs end. The seconds that it took to write; 0: it
// failed.
double run(const char* agent, std::uint64_t ranges, std::uint64_t per_tick) {
  std::fflush(stdout);  // else the child prints it once more
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    jaxprof::bench::inject(agent);
    write_from_threads(ranges, per_tick);
    exit(0);
  }
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Events in a whole spool; 0 for one that is damaged or has no footer.
std::uint64_t count_events(const std::string& path) {
  auto reader = jaxprof::spool::SpoolReader::open(path);
  if (!reader) return 0;
  std::uint64_t count = 0;
  jaxprof::spool::Block block;
  while (reader->next(&block)) {
    if (block.kind != jaxprof::spool::BlockKind::kEvents) continue;
    jaxprof::spool::EventDecoder decoder(block.payload.data(), block.payload.size());
    for (jaxprof::spool::Event event; decoder.next(&event);) ++count;
    if (decoder.is_damaged()) return 0;
  }
  return reader->health().has_footer ? count : 0;
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %14.3f %s\n", name, value, unit);
}

struct Outcome {
  std::uint64_t made = 0, recorded = 0, dropped = 0;
  double seconds = 0;
  bool is_exact() const { return seconds > 0 && recorded + dropped == made; }
};

Outcome outcome_of(const char* agent, const std::string& parent, std::uint32_t ring_bytes, std::uint64_t events,
                   std::uint64_t per_tick) {
  BenchSession session(parent, "rate_bench");
  if (!session.has_page()) return {};
  session.plan().ring_bytes = ring_bytes;
  const std::uint64_t ranges = events / 2 / kThreads;
  Outcome outcome;
  outcome.seconds = run(agent, ranges, per_tick);
  outcome.made = ranges * 2 * kThreads;
  outcome.recorded = count_events(session.spool_path());
  outcome.dropped = session.dropped();
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: rate_bench AGENT [FOLDER]\n");
    return 2;
  }
  const std::string parent = argc > 2 ? argv[2] : "/tmp";
  const char* full = getenv("JAXPROF_FULL");
  const std::uint64_t events = full != nullptr && full[0] == '1' ? 10'000'000 : 2'000'000;
  const Outcome paced = outcome_of(argv[1], parent, 1 << 20, events, kEventsPerSecond / 1000 / 2 / kThreads);
  print("rate.made", static_cast<double>(paced.made), "events at a million a second");
  print("rate.per_second", static_cast<double>(paced.made) / paced.seconds,
        "events a second, with the process's start");
  print("rate.lost", static_cast<double>(paced.dropped), "events");
  const Outcome flood = outcome_of(argv[1], parent, kSmallRingBytes, kImpossibleEvents, 0);
  print("flood.made", static_cast<double>(flood.made), "events as fast as they come, in small rings");
  print("flood.recorded", static_cast<double>(flood.recorded), "events");
  print("flood.dropped", static_cast<double>(flood.dropped), "events");
  print("flood.unaccounted",
        static_cast<double>(flood.made) - static_cast<double>(flood.recorded) - static_cast<double>(flood.dropped),
        "events");
  if (!paced.is_exact() || !flood.is_exact()) {
    std::fprintf(stderr, "rate_bench: what was recorded and what was counted as dropped is not what was made\n");
    return 1;
  }
  if (paced.dropped > 0) {
    std::fprintf(stderr, "rate_bench: events were lost at a million a second\n");
    return 1;
  }
  if (flood.dropped == 0) {
    std::fprintf(stderr, "rate_bench: nothing was dropped, so this run proves nothing about drops\n");
    return 1;
  }
  return 0;
}

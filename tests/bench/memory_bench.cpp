// What the agent takes of a node's memory: what is resident of a program with the agent, less what is resident of the
// same program without a tool. Of its threads the first eight write as fast as they can; a process has that many busy
// ones, and each has a ring of full size. The others write ten thousand events a second, as NCCL's threads do. The
// limits are 64 MiB for eight threads and 64 KiB for a further one; GPU buffers (--buffer-size) come on top and are not
// here.
//
// Usage: memory_bench AGENT [FOLDER]; prints "NAME VALUE UNIT" lines. Exit status 1 where a limit is not kept.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/bench_session.h"

namespace {

using std::chrono::milliseconds;

constexpr double kMiB = 1 << 20;
constexpr double kBaseLimitBytes = 64 * kMiB;
constexpr double kThreadLimitBytes = 64 << 10;
constexpr int kBusyThreads = 8;
constexpr int kMostThreads = 64;
constexpr int kBusyRanges = 100'000;
constexpr int kTicks = 500;        // of a millisecond
constexpr int kRangesPerTick = 5;  // two events each

void write_ranges(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA("forward/attention/softmax, layer 17");
    nvtxRangePop();
  }
}

void write_slowly() {
  auto next = std::chrono::steady_clock::now();
  for (int tick = 0; tick < kTicks; ++tick) {
    write_ranges(kRangesPerTick);
    std::this_thread::sleep_until(next += milliseconds(1));
  }
}

// Of the whole process, by the kernel's walk over its pages; the counters of /proc/self/status may lag. 0: unreadable.
double resident_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == "Rss:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

// Measured while all threads are still there.
double resident_with_threads(int count) {
  std::atomic<int> written{0};
  std::atomic<bool> is_measured{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&written, &is_measured, i] {
      if (i < kBusyThreads) {
        write_ranges(kBusyRanges);
      } else {
        write_slowly();
      }
      written.fetch_add(1);
      while (!is_measured.load()) std::this_thread::sleep_for(milliseconds(1));
    });
  }
  while (written.load() < count) std::this_thread::sleep_for(milliseconds(1));
  const double bytes = resident_bytes();
  is_measured.store(true);
  for (std::thread& thread : threads) thread.join();
  return bytes;
}

// In a process of its own, with the agent or, where that is null, without a tool. 0: it failed.
double measure(const char* agent, int count) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    if (agent != nullptr) jaxprof::bench::inject(agent);
    const double bytes = resident_with_threads(count);
    _exit(write(ends[1], &bytes, sizeof bytes) == static_cast<ssize_t>(sizeof bytes) ? 0 : 1);
  }
  close(ends[1]);
  double bytes = 0;
  const bool is_read = child > 0 && read(ends[0], &bytes, sizeof bytes) == static_cast<ssize_t>(sizeof bytes);
  close(ends[0]);
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 && is_read ? bytes : 0;
}

void print(const char* name, double value, const char* unit) {
  std::printf("%-34s %10.3f %s\n", name, value, unit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: memory_bench AGENT [FOLDER]\n");
    return 2;
  }
  jaxprof::bench::BenchSession session(argc > 2 ? argv[2] : "/tmp", "memory_bench");
  if (!session.has_page()) {
    std::perror("memory_bench: cannot make a session");
    return 1;
  }
  unsetenv("NVTX_INJECTION64_PATH");
  const auto own_bytes = [&](int count) { return measure(argv[1], count) - measure(nullptr, count); };
  const double one = own_bytes(1);
  const double base = own_bytes(kBusyThreads);
  const double most = own_bytes(kMostThreads);
  const double each = (most - base) / (kMostThreads - kBusyThreads);
  if (session.claimed_slots() != 3 || session.slot(2).events.load() == 0 || one <= 0) {
    std::fprintf(stderr, "memory_bench: the agent was not attached; the figures mean nothing\n");
    return 1;
  }
  print("memory.1_thread", one / kMiB, "MiB");
  print("memory.8_threads", base / kMiB, "MiB");
  print("memory.64_threads", most / kMiB, "MiB");
  print("memory.further_thread", each / 1024, "KiB");
  print("memory.base_ratio", base / kBaseLimitBytes, "of 64 MiB");
  print("memory.thread_ratio", each / kThreadLimitBytes, "of 64 KiB");
  if (base <= kBaseLimitBytes && each <= kThreadLimitBytes) return 0;
  std::fprintf(stderr, "memory_bench: the agent takes more memory than it may\n");
  return 1;
}

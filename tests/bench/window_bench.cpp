// What a range costs while the window is closed: the time of a push and pop with the agent attached and nothing
// recorded, less that of a program without any tool, which a child measures (NVTX looks for a tool once a process). It
// must be far less than what recording costs, whose least is two readings of the clock: the ratio to them is kept.
// Three ranges: with a registered message in a domain of which nothing is asked; with a text in the default domain,
// where steps are marked and the message has to be looked at; and a step itself. Each figure is the best of many
// batches.
//
// Usage: window_bench AGENT [FOLDER]; prints "NAME VALUE UNIT" lines.
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/base/clocks.h"
#include "agent/contract/session_page.h"
#include "tests/bench/bench_session.h"

namespace {

constexpr int kBatches = 2000;
constexpr int kCallsPerBatch = 1000;

// Best time of one call over all batches, ns.
double best_ns(auto&& call) {
  double best = 1e18;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCallsPerBatch; ++i) call();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, spent.count() / kCallsPerBatch);
  }
  return best;
}

void print(const std::string& name, double value, const char* unit) {
  std::printf("%-34s %10.3f %s\n", name.c_str(), value, unit);
}

constexpr std::array<const char*, 3> kKinds = {"registered", "ascii", "step"};
using Figures = std::array<double, kKinds.size()>;

Figures measure() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "a registered string");
  const double registered = best_ns([&] {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
  });
  const auto text = [](const char* message) {
    return best_ns([message] {
      nvtxRangePushA(message);
      nvtxRangePop();
    });
  };
  return {registered, text("forward/attention/softmax, layer 17"), text("step")};
}

// In a child, before this process has called NVTX.
bool measure_without_tool(Figures* figures) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("NVTX_INJECTION64_PATH");
    const Figures own = measure();
    _exit(write(ends[1], own.data(), sizeof own) == static_cast<ssize_t>(sizeof own) ? 0 : 1);
  }
  close(ends[1]);
  const bool is_read =
      child > 0 && read(ends[0], figures->data(), sizeof *figures) == static_cast<ssize_t>(sizeof *figures);
  close(ends[0]);
  int status = 1;
  return waitpid(child, &status, 0) == child && status == 0 && is_read;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: window_bench AGENT [FOLDER]\n");
    return 2;
  }
  Figures without{};
  jaxprof::bench::BenchSession session(argc > 2 ? argv[2] : "/tmp", "window_bench");
  if (!session.has_page() || !measure_without_tool(&without)) {
    std::perror("window_bench: cannot make a session");
    return 1;
  }
  jaxprof::parse_step_marker("step", &session.plan().step_marker);
  jaxprof::parse_capture_range("steps:1000000000", &session.plan().window);
  jaxprof::bench::inject(argv[1]);
  const Figures closed = measure();
  const jaxprof::ClockId clock = jaxprof::choose_event_clock();
  volatile std::uint64_t sink = 0;
  const double limit_ns = best_ns([&] {
    sink = jaxprof::read_event_clock(clock);
    sink = jaxprof::read_event_clock(clock);
  });
  print("two_clock_readings_ns", limit_ns, "ns");
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    const std::string name = std::string("closed_") + kKinds[i];
    print(name + "_without_tool_ns", without[i], "ns a push and pop");
    print(name + "_extra_ns", closed[i] - without[i], "ns more");
    print(name + "_ratio", (closed[i] - without[i]) / limit_ns, "of two clock readings");
  }
  const jaxprof::ProcessSlot& slot = session.slot();
  const bool is_armed = slot.state.load() == jaxprof::SlotState::kRecording && slot.segments.load() == 0;
  if (is_armed) return 0;
  std::fprintf(stderr,
               "window_bench: the agent was not attached, or its window opened; the figures above mean nothing\n");
  return 1;
}

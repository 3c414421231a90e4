// Scenarios of a program whose window opens and closes by what it does. Each reports nothing: what was recorded, and
// what was counted as lost, tells.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "agent/collect/event_sink.h"
#include "tests/unit/collect/child_program.h"
#include "tests/unit/nvtx/fake_nvtx.h"

namespace jaxprof::test {
namespace {

class Program {
 public:
  Program() { nvtx_.initialize(); }

  nvtxDomainHandle_t domain(const char* name) const { return nvtx_.create_domain(name); }
  void push(const char* message, nvtxDomainHandle_t domain = nullptr) const {
    nvtx_.push(domain, attributes_of(message));
  }
  void pop(nvtxDomainHandle_t domain = nullptr) const { nvtx_.pop(domain); }
  void range(const char* message, nvtxDomainHandle_t domain = nullptr) const {
    push(message, domain);
    pop(domain);
  }
  void step(std::int64_t number) const {
    nvtxEventAttributes_t attributes = attributes_of("step");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    attributes.payload.llValue = number;
    nvtx_.push(nullptr, attributes);
    range("inside");
    pop();
    range("between");
  }
  nvtxRangeId_t start(const char* message) const {
    return nvtx_.core<nvtxRangeId_t (*)(const char*)>(NVTX_CBID_CORE_RangeStartA)(message);
  }
  void end(nvtxRangeId_t range) const { nvtx_.core<void (*)(nvtxRangeId_t)>(NVTX_CBID_CORE_RangeEnd)(range); }
  void mark(const char* message) const { nvtx_.core<void (*)(const char*)>(NVTX_CBID_CORE_MarkA)(message); }
  void push_registered(const char* message, nvtxDomainHandle_t domain) const {
    nvtxEventAttributes_t attributes = attributes_of("");
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtx_.register_string(domain, message);
    nvtx_.push(domain, attributes);
  }
  void push_wide(const wchar_t* message) const {
    nvtx_.core<int (*)(const wchar_t*)>(NVTX_CBID_CORE_RangePushW)(message);
  }

 private:
  FakeNvtx nvtx_;
};

void ten_steps() {
  const Program program;
  program.push("epoch");
  for (std::int64_t number = 0; number < 10; ++number) program.step(number);
  program.pop();
  program.range("after");
}

// 0, 10, 20, …
void every_tenth_step() {
  const Program program;
  for (std::int64_t number = 0; number < 60; number += 10) program.step(number);
}

void ordinals() {
  const Program program;
  for (int i = 0; i < 6; ++i) program.range("step");
  for (int i = 0; i < 6; ++i) program.range("batch");
}

void started_steps() {
  const Program program;
  for (int i = 0; i < 6; ++i) {
    const nvtxRangeId_t step = program.start("step");
    program.range("inside");
    program.end(step);
  }
}

// A window of the range "hot" with the others around, before, inside and after it.
void hot_range() {
  const Program program;
  program.push("outer");
  program.push("before");
  program.pop();
  program.push("hot");
  program.push("hot");  // inside itself: its end is not the window's
  program.pop();
  program.range("inside");
  program.mark("mark");
  program.pop();
  program.mark("outside");
  program.pop();
  program.range("after");
}

void hot_four_times() {
  const Program program;
  for (int i = 0; i < 4; ++i) {
    program.push("hot");
    program.range("inside");
    program.pop();
    program.range("between");
  }
}

void hot_in_all_forms() {
  const Program program;
  const nvtxDomainHandle_t domain = program.domain("model");
  program.push_registered("hot", domain);
  program.range("registered", domain);
  program.pop(domain);
  program.push("hot", domain);
  program.range("text", domain);
  program.pop(domain);
  program.range("hot");  // of another domain
  program.range("not");
}

void hot_wide_and_started() {
  const Program program;
  program.push_wide(L"hot");
  program.range("wide");
  program.pop();
  const nvtxRangeId_t range = program.start("hot");
  program.range("started");
  program.end(range);
  program.end(range);
  program.range("outside");
}

void left_open() {
  const Program program;
  program.push("hot");
  program.range("inside");
}

// Ranges that were pushed while the window was closed and popped while it was open, and the other way round.
void across_edges() {
  const Program program;
  program.push("outer");
  program.push("deep");
  const nvtxRangeId_t hot = program.start("hot");
  program.pop();             // of "deep": began before
  program.push("crossing");  // ends after
  program.end(hot);
  program.pop();
  program.push("unrecorded");
  const nvtxRangeId_t again = program.start("hot");
  program.pop();
  program.range("second");
  program.pop();  // of "outer"
  program.end(again);
}

// Two threads in their last step: the window closes when both have left it.
void last_step_of_two() {
  const Program program;
  std::thread other([&program] {
    program.push("step");
    program.range("other");
    program.pop();
  });
  other.join();
  program.push("step");
  program.range("own");
  program.pop();
  program.range("after");
}

void profiler_calls() {
  const Program program;
  program.range("before");
  collect::profiler_stopped();
  collect::profiler_started();
  collect::profiler_started();
  program.range("inside");
  collect::profiler_stopped();
  program.range("after");
}

// More threads at once than there are rings, each with ranges, before a window that one of them opens.
void crowd_before_the_window() {
  const Program program;
  constexpr int kThreads = 1100;
  std::atomic<int> arrived{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      program.push("outer");
      program.push("before");
      program.pop();
      arrived.fetch_add(1);
      while (arrived.load() < kThreads) std::this_thread::yield();
      program.pop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  program.push("hot");
  program.range("inside");
  program.pop();
}

// Everything that the program can call, after the agent's last flush, in the default domain and in NCCL's.
struct LateCaller {
  Program program;
  nvtxDomainHandle_t nccl = program.domain("NCCL");
};
const LateCaller* late_caller = nullptr;  // never destroyed: it is used after main()
void call_after_the_end() {
  const Program& program = late_caller->program;
  for (int i = 0; i < 7; ++i) {
    program.range("late");
    program.end(program.start("late"));
    program.mark("late");
  }
  program.range("late of NCCL", late_caller->nccl);
  program.range("step");
}
void calls_after_the_end() {
  std::atexit(call_after_the_end);  // before the agent's own handler, so it runs after it
  late_caller = new LateCaller;
  late_caller->program.range("in time");
}

constexpr Scenario kScenarios[] = {
    {"ten_steps", ten_steps},
    {"every_tenth_step", every_tenth_step},
    {"ordinals", ordinals},
    {"started_steps", started_steps},
    {"hot_range", hot_range},
    {"hot_four_times", hot_four_times},
    {"hot_in_all_forms", hot_in_all_forms},
    {"hot_wide_and_started", hot_wide_and_started},
    {"left_open", left_open},
    {"across_edges", across_edges},
    {"last_step_of_two", last_step_of_two},
    {"profiler_calls", profiler_calls},
    {"crowd_before_the_window", crowd_before_the_window},
    {"calls_after_the_end", calls_after_the_end},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test

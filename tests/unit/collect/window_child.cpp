// Scenarios of a process with a window and a collector of GPUs that notes how it is called.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>
#include <vector>

#include "agent/collect/event_sink.h"
#include "agent/collect/session.h"
#include "tests/unit/collect/child_program.h"

namespace jaxprof::test {
namespace {

// What the collector was told, and what it should never have been.
std::atomic<int> open_count{0}, close_count{0}, ask_count{0}, fills_after_ask{0};
std::atomic<int> inside{0};
std::atomic<bool> is_open{false};
std::atomic<int> faults{0};
void (*while_opening)() = [] {};

void enter(bool opens) {
  if (inside.fetch_add(1) != 0) faults.fetch_add(1);          // two at once
  if (is_open.exchange(opens) == opens) faults.fetch_add(1);  // twice the same
  char thread[16] = "";
  prctl(PR_GET_NAME, thread);
  if (std::string_view(thread) == "jaxprof-drain") faults.fetch_add(1);  // it has no descriptors
}

void open_gpus() noexcept {
  enter(true);
  open_count.fetch_add(1);
  while_opening();
  inside.fetch_sub(1);
}
void close_gpus() noexcept {
  enter(false);
  close_count.fetch_add(1);
  inside.fetch_sub(1);
}
// The collector's own thread: what the drain thread and exit() ask for is told there, and never by them.
std::atomic<int> changes{0};
void window_changed() noexcept {
  changes.fetch_add(1);
  changes.notify_one();
}
void tell_for_ever() {
  for (int seen = 0;; seen = changes.load()) {
    changes.wait(seen);
    collect::tell_gpu_collector();
  }
}
void begin_launch(std::uint64_t) noexcept {}
void end_launch() noexcept {}
std::size_t fill_block(std::uint8_t*, std::size_t, std::uint64_t*) noexcept {
  if (ask_count.load() > 0) fills_after_ask.fetch_add(1);
  return 0;
}
void ask_gpus(std::uint32_t) noexcept {
  ask_count.fetch_add(1);
}
// What GPUs have comes late: it has been read only after some more looks.
bool are_gpus_finished() noexcept {
  return fills_after_ask.load() >= 5;
}
void finish_gpus(std::uint32_t) noexcept {}
constexpr collect::GpuCollector kCollector = {open_gpus,  close_gpus, window_changed,    begin_launch, end_launch,
                                              fill_block, ask_gpus,   are_gpus_finished, finish_gpus};

void report_all() {
  report("opened", open_count);
  report("closed", close_count);
  report("faults", faults);
  report("is_open", is_open);
}

void attach() {
  std::thread(tell_for_ever).detach();
  collect::attach(kHookCuda, 0);
}

// cudaProfilerStart and Stop once more while CUPTI is being told of the first.
void calls_inside_calls() {
  attach();
  collect::set_gpu_collector(&kCollector);
  while_opening = [] {
    collect::profiler_started();
    collect::profiler_stopped();
    report("capturing_inside", collect::is_capturing());
  };
  collect::profiler_started();
  report_all();
}

void many_callers() {
  attach();
  collect::set_gpu_collector(&kCollector);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 2000; ++i) t % 2 == 0 ? collect::profiler_started() : collect::profiler_stopped();
    });
  }
  for (std::thread& thread : threads) thread.join();
  collect::profiler_stopped();
  report_all();
}

void late_collector() {
  attach();
  collect::profiler_started();
  report("before", open_count);
  collect::set_gpu_collector(&kCollector);
  report_all();
}

bool wait_until(auto&& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void until_the_time_is_over() {
  attach();
  collect::set_gpu_collector(&kCollector);
  const ProcessSlot* slot = collect::process_slot();
  report("done", wait_until([slot] { return slot->window.load() == WindowState::kDone; }));
  report("told", wait_until([] { return close_count.load() == 1; }));
  report_all();
}

void until_its_recording_ends() {
  attach();
  collect::set_gpu_collector(&kCollector);
  collect::profiler_started();
  collect::profiler_stopped();
  const ProcessSlot* slot = collect::process_slot();
  report("ended", wait_until([slot] { return slot->state.load() == SlotState::kEnded; }));
  report("asked", ask_count);
  report("fills_after_ask", fills_after_ask);
  collect::profiler_started();
  report("recording", collect::is_capturing());
  report_all();
}

// ---- a holder of the window's lock that the system stops

std::atomic<int> holder_stopped{0};
std::atomic<bool> holder_goes_on{false};
void stop_here(int) {
  holder_stopped.store(1);
  while (!holder_goes_on.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

// The registration log is taken, so that a thread which closes the window waits for it with the window's lock, and is
// stopped there until goes_on(). True if it was.
class StoppedHolder {
 public:
  bool stop() {
    if (!collect::session.state_log.lock().lock()) return false;
    thread_ = std::thread([] { collect::profiler_stopped(); });
    const bool has_lock = wait_until([] { return !collect::is_capturing(); });
    pthread_kill(thread_.native_handle(), SIGUSR1);
    return has_lock && wait_until([] { return holder_stopped.load() == 1; });
  }
  void go_on() {
    collect::session.state_log.lock().unlock();
    holder_goes_on.store(true);
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};
StoppedHolder stopped_holder;

// Who has told the collector of the opening does not get the lock back in time: whoever has it next tells of the close.
void refused_lock() {
  signal(SIGUSR1, stop_here);
  attach();
  collect::set_gpu_collector(&kCollector);
  while_opening = [] { report("stopped", stopped_holder.stop()); };
  collect::profiler_started();
  stopped_holder.go_on();
  report_all();
}

constexpr Scenario kScenarios[] = {
    {"refused_lock", refused_lock},
    {"calls_inside_calls", calls_inside_calls},
    {"many_callers", many_callers},
    {"late_collector", late_collector},
    {"until_the_time_is_over", until_the_time_is_over},
    {"until_its_recording_ends", until_its_recording_ends},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test

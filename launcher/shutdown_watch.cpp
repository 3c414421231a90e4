#include "launcher/shutdown_watch.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/log.h"
#include "launcher/child_answer.h"
#include "launcher/window_options.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kPeriodNs = 50'000'000;
constexpr std::int64_t kPatienceNs = 2'000'000'000;  // for the windows of the task's other processes

constexpr unsigned kMarkLimitS = 10;
constexpr int kMarkLooks = 100;
constexpr auto kMarkPause = std::chrono::milliseconds(10);

bool has_open_window(const SessionPage& page) {
  const std::uint32_t claimed = std::min(page.claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
  return std::any_of(page.slots, page.slots + claimed, [](const ProcessSlot& slot) {
    return slot.state.load(std::memory_order_acquire) == SlotState::kRecording &&
           slot.window.load(std::memory_order_acquire) == WindowState::kOpen;
  });
}

bool ends_the_job(const WindowPlan& window) {
  return window.end == WindowEnd::kStopShutdown || window.end == WindowEnd::kRepeatShutdown;
}

}  // namespace

ShutdownWatch::ShutdownWatch(const SessionPage& page, std::int64_t grace_ns, std::string mark_path,
                             std::function<void()> ask, std::function<void()> kill)
    : page_(page),
      grace_ns_(grace_ns),
      mark_path_(std::move(mark_path)),
      ask_(std::move(ask)),
      kill_(std::move(kill)) {}

void ShutdownWatch::start() {
  if (!ends_the_job(page_.plan.window)) return;
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    return;  // the job goes on to its own end
  }
}

void ShutdownWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

bool ShutdownWatch::pause(const std::stop_token& stop, std::int64_t ns) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, std::chrono::nanoseconds(ns), [] { return false; });
  return !stop.stop_requested();
}

// The run's windows close alike, and the task that makes the mark says it. Shared storage that hangs costs a second.
void ShutdownWatch::say_once() const {
  auto mark = mark_path_.empty() ? std::nullopt : ChildAnswer::of_new_mark(mark_path_, kMarkLimitS);
  for (int i = 0; mark && i < kMarkLooks; ++i) {
    if (const auto answer = mark->poll()) {
      const WindowPlan& window = page_.plan.window;
      if (*answer == "made") {
        say(name_window(window) + " closed: ending the job, as --capture-range-end " + end_words(window) + " asks");
      }
      return;
    }
    std::this_thread::sleep_for(kMarkPause);
  }
}

void ShutdownWatch::run(const std::stop_token& stop) {
  while (page_.asks_shutdown.load(std::memory_order_acquire) == 0) {
    if (!pause(stop, kPeriodNs)) return;
  }
  const std::int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  while (has_open_window(page_) && clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
    if (!pause(stop, kPeriodNs)) return;
  }
  say_once();
  ask_();
  if (pause(stop, grace_ns_)) kill_();
}

}  // namespace jaxprof::launcher

#include "launcher/shutdown_watch.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kPeriodNs = 50'000'000;
constexpr std::int64_t kPatienceNs = 2'000'000'000;  // for the windows of the task's other processes

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

ShutdownWatch::ShutdownWatch(const SessionPage& page, std::int64_t grace_ns, std::function<void()> ask,
                             std::function<void()> kill)
    : page_(page), grace_ns_(grace_ns), ask_(std::move(ask)), kill_(std::move(kill)) {}

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

void ShutdownWatch::run(const std::stop_token& stop) {
  while (page_.asks_shutdown.load(std::memory_order_acquire) == 0) {
    if (!pause(stop, kPeriodNs)) return;
  }
  const std::int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + kPatienceNs;
  while (has_open_window(page_) && clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
    if (!pause(stop, kPeriodNs)) return;
  }
  ask_();
  if (pause(stop, grace_ns_)) kill_();
}

}  // namespace jaxprof::launcher

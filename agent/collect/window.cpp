#include "agent/collect/window.h"

#include <sched.h>

#include "agent/base/clocks.h"
#include "agent/collect/drain.h"
#include "agent/collect/event_sink.h"
#include "agent/collect/session.h"

namespace jaxprof::collect {
namespace {

std::atomic<const GpuCollector*> collector{nullptr};
std::atomic<std::uint32_t> segment_count{0};

// Held for the edges of segments only, by threads that may wait.
class EdgeLock {
 public:
  EdgeLock() noexcept {
    while (word_.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  }
  ~EdgeLock() { word_.store(0, std::memory_order_release); }
  EdgeLock(const EdgeLock&) = delete;
  EdgeLock& operator=(const EdgeLock&) = delete;

 private:
  static std::atomic<std::uint32_t> word_;
};
std::atomic<std::uint32_t> EdgeLock::word_{0};

void record_edge(bool is_open, std::uint32_t segment, spool::WindowCause cause, std::uint64_t step) noexcept {
  spool::SegmentState state{};
  state.segment = segment;
  state.is_open = is_open ? 1 : 0;
  state.cause = static_cast<std::uint32_t>(cause);
  state.stamp = read_stamp();
  state.step = step;
  state.realtime_ns = clock_ns(CLOCK_REALTIME);
  append_state(spool::StateKind::kSegment, &state, sizeof state);
}

}  // namespace

void start_window() noexcept {
  if (is_always_open(session.page->plan.window)) open_window(spool::WindowCause::kAttach);
}

void open_window(spool::WindowCause cause, std::uint64_t step) noexcept {
  const EdgeLock lock;
  if (session.slot->window.load(std::memory_order_relaxed) != WindowState::kArmed) return;
  const std::uint32_t segment = segment_count.fetch_add(1, std::memory_order_relaxed);
  record_edge(true, segment, cause, step);
  session.slot->segments.store(segment + 1, std::memory_order_relaxed);
  session.slot->window.store(WindowState::kOpen, std::memory_order_release);
  if (const GpuCollector* gpus = gpu_collector(); gpus != nullptr) gpus->open();
  detail::capture.store(1);
  // The drain thread may have ended the recording in between: one of us sees what the other did.
  if (session.state.load() != SessionState::kRecording) detail::capture.store(0);
}

void close_window(spool::WindowCause cause, std::uint64_t step) noexcept {
  const EdgeLock lock;
  if (session.slot->window.load(std::memory_order_relaxed) != WindowState::kOpen) return;
  detail::capture.store(0);
  session.slot->window.store(WindowState::kArmed, std::memory_order_release);
  record_edge(false, segment_count.load(std::memory_order_relaxed) - 1, cause, step);
  if (const GpuCollector* gpus = gpu_collector(); gpus != nullptr) gpus->close();
}

void end_window(spool::WindowCause cause) noexcept {
  close_window(cause);
  session.slot->window.store(WindowState::kDone, std::memory_order_release);
}

void profiler_started() noexcept {}
void profiler_stopped() noexcept {}

void set_gpu_collector(const GpuCollector* gpus) noexcept {
  const EdgeLock lock;
  collector.store(gpus, std::memory_order_release);
  if (session.slot->window.load(std::memory_order_relaxed) == WindowState::kOpen) gpus->open();
}

const GpuCollector* gpu_collector() noexcept {
  return collector.load(std::memory_order_acquire);
}

void wake_for_activities() noexcept {
  wake_drain_thread();
}

}  // namespace jaxprof::collect

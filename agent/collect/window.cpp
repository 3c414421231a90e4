#include "agent/collect/window.h"

#include "agent/base/clocks.h"
#include "agent/collect/drain.h"
#include "agent/collect/event_sink.h"
#include "agent/collect/session.h"
#include "agent/collect/window_machine.h"

namespace jaxprof::collect {
namespace {

// All of it under `edge_lock`, which is held for some instructions and a registration, and never while a collector is
// called: whoever changes the window also tells the collector of GPUs, unless another thread is about to; that one then
// looks again. So nobody waits for CUPTI but the thread that calls it. The drain thread, which has no descriptors of
// the driver, and exit(), which may not hang, have a thread of the collector tell it.
struct Window {
  WindowMachine machine;
  const GpuCollector* gpus = nullptr;
  bool is_open_for_gpus = false;
  std::atomic<bool> is_telling_gpus{false};  // cleared without the lock where that is refused
};
constinit Window window;
constinit BoundedLock edge_lock;
std::atomic<const GpuCollector*> known_gpus{nullptr};
std::atomic<bool> asks_shutdown{false};

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

// An opening is on record before the first event of its segment, and a close after the last.
void apply(WindowChange change, spool::WindowCause cause, std::uint64_t step) noexcept {
  if (change == WindowChange::kNone) return;
  ProcessSlot& slot = *session.slot;
  const std::uint32_t segments = window.machine.segments();
  if (change == WindowChange::kOpens) {
    record_edge(true, segments - 1, cause, step);
    slot.segments.store(segments, std::memory_order_relaxed);
    detail::capture.store(segments);
    // The recording may have ended in between: one of us sees what the other did.
    const SessionState now = session.state.load();
    if (now == SessionState::kEnded || now == SessionState::kDead) detail::capture.store(detail::kCaptureOver);
  } else {
    std::uint32_t expected = segments;
    detail::capture.compare_exchange_strong(expected, 0);
    record_edge(false, segments - 1, cause, step);
  }
  slot.window.store(window.machine.state(), std::memory_order_release);
  if (window.machine.asks_shutdown()) asks_shutdown.store(true, std::memory_order_release);
}

// With the lock.
bool are_gpus_behind() noexcept {
  return window.gpus != nullptr && window.is_open_for_gpus != window.machine.is_open();
}

// Called with the lock, which it gives up.
void tell_gpus_and_unlock() noexcept {
  while (!window.is_telling_gpus.load() && are_gpus_behind()) {
    window.is_telling_gpus.store(true);
    window.is_open_for_gpus = window.machine.is_open();
    const GpuCollector* gpus = window.gpus;
    const bool opens = window.is_open_for_gpus;
    edge_lock.unlock();
    if (opens) {
      gpus->open();
    } else {
      gpus->close();
    }
    // Refused to a signal handler that interrupts the holder: the next edge goes on from here.
    if (!edge_lock.lock()) return window.is_telling_gpus.store(false);
    window.is_telling_gpus.store(false);
  }
  edge_lock.unlock();
}

// The same where CUPTI may not be called.
void have_gpus_told_and_unlock() noexcept {
  const GpuCollector* gpus = are_gpus_behind() ? window.gpus : nullptr;
  edge_lock.unlock();
  if (gpus != nullptr) gpus->window_changed();
}

bool is_recording() noexcept {
  return session.state.load(std::memory_order_relaxed) == SessionState::kRecording;
}

// The lock is refused to a signal handler that interrupts its holder: the window then stays as it is.
bool lock_edges() noexcept {
  return is_recording() && edge_lock.lock();
}

std::uint32_t begin_content(WindowKind kind, spool::WindowCause cause, std::uint64_t step) noexcept {
  const WindowPlan& plan = session.page->plan.window;
  if (plan.kind != kind || !lock_edges()) return 0;
  const WindowChange change = window.machine.begin_content(clock_ns(CLOCK_MONOTONIC));
  const std::uint32_t segment = change == WindowChange::kOpens ? window.machine.segments() : 0;
  apply(change, cause, step);
  tell_gpus_and_unlock();
  if (segment != 0 && plan.duration_ns != 0) wake_drain_thread();  // its sleep has a new end
  return segment;
}

void end_content(WindowKind kind, spool::WindowCause cause, std::uint64_t step, std::uint32_t segment) noexcept {
  if (session.page->plan.window.kind != kind || !lock_edges()) return;
  if (segment == 0 || segment == window.machine.segments()) apply(window.machine.end_content(), cause, step);
  tell_gpus_and_unlock();
  if (asks_shutdown.load(std::memory_order_relaxed)) wake_drain_thread();
}

WindowKind kind_of(spool::WindowCause cause) noexcept {
  return cause == spool::WindowCause::kStep ? WindowKind::kSteps : WindowKind::kRange;
}

}  // namespace

void start_window() noexcept {
  if (!edge_lock.lock()) return;
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  window.machine.start(session.page->plan.window, now_ns, clock_ns(CLOCK_REALTIME));
  const WindowChange change = window.machine.pass_time(now_ns);
  apply(change, window.machine.time_cause(), 0);
  tell_gpus_and_unlock();
}

std::int64_t pass_window_time() noexcept {
  if (!lock_edges()) return INT64_MAX;
  const WindowChange change = window.machine.pass_time(clock_ns(CLOCK_MONOTONIC));
  apply(change, window.machine.time_cause(), 0);
  const std::int64_t next_ns = window.machine.next_edge_ns();
  have_gpus_told_and_unlock();
  return next_ns;
}

bool is_shutdown_due() noexcept {
  return asks_shutdown.load(std::memory_order_acquire);
}

// The slot keeps what the window was: armed, if it could still have opened, open, or closed before. After a window that
// was over nothing is lost.
void end_window(spool::WindowCause cause) noexcept {
  if (!edge_lock.lock()) return detail::capture.store(detail::kCaptureOver);
  const WindowState last = window.machine.state();
  if (last != WindowState::kDone) detail::capture.store(detail::kCaptureOver);
  apply(window.machine.end_for_good(), cause, 0);
  session.slot->window.store(last, std::memory_order_release);
  have_gpus_told_and_unlock();
}

std::uint32_t content_began(spool::WindowCause cause, std::uint64_t step) noexcept {
  return begin_content(kind_of(cause), cause, step);
}

void content_ended(spool::WindowCause cause, std::uint64_t step, std::uint32_t segment) noexcept {
  end_content(kind_of(cause), cause, step, segment);
}

void profiler_started() noexcept {
  begin_content(WindowKind::kProfiler, spool::WindowCause::kProfiler, 0);
}

void profiler_stopped() noexcept {
  end_content(WindowKind::kProfiler, spool::WindowCause::kProfiler, 0, 0);
}

void set_gpu_collector(const GpuCollector* gpus) noexcept {
  known_gpus.store(gpus, std::memory_order_release);
  if (!edge_lock.lock()) return;
  window.gpus = gpus;
  tell_gpus_and_unlock();
}

void tell_gpu_collector() noexcept {
  if (edge_lock.lock()) tell_gpus_and_unlock();
}

const GpuCollector* gpu_collector() noexcept {
  return known_gpus.load(std::memory_order_acquire);
}

void wake_for_activities() noexcept {
  wake_drain_thread();
}

}  // namespace jaxprof::collect

#include "agent/collect/window_machine.h"

namespace jaxprof::collect {
namespace {

constexpr std::int64_t kNever = INT64_MAX;

}  // namespace

void WindowMachine::start(const WindowPlan& plan, std::int64_t monotonic_ns, std::int64_t realtime_ns) noexcept {
  plan_ = plan;
  state_ = WindowState::kArmed;
  const std::int64_t since_t0_ns = plan.t0_realtime_ns != 0 ? realtime_ns - plan.t0_realtime_ns : 0;
  due_ns_ = monotonic_ns - since_t0_ns + plan.delay_ns;
  close_ns_ = kNever;
  // Whoever needs no delay shall not wait for T0, should its wall clock be behind that of whoever published it.
  if (plan.delay_ns == 0) due_ns_ = monotonic_ns;
  time_cause_ = plan.delay_ns == 0 ? spool::WindowCause::kAttach : spool::WindowCause::kDelay;
}

WindowChange WindowMachine::open(std::int64_t now_ns) noexcept {
  state_ = WindowState::kOpen;
  ++segments_;
  close_ns_ = plan_.duration_ns != 0 ? now_ns + plan_.duration_ns : kNever;
  return WindowChange::kOpens;
}

bool WindowMachine::is_last_segment() const noexcept {
  const bool repeats = plan_.end == WindowEnd::kRepeat || plan_.end == WindowEnd::kRepeatShutdown;
  if (!repeats || plan_.kind == WindowKind::kWhole) return true;
  return plan_.repeat_count != 0 && segments_ >= plan_.repeat_count;
}

WindowChange WindowMachine::close() noexcept {
  close_ns_ = kNever;
  if (!is_last_segment()) {
    state_ = WindowState::kArmed;
    return WindowChange::kCloses;
  }
  state_ = WindowState::kDone;
  asks_shutdown_ = plan_.end == WindowEnd::kStopShutdown || plan_.end == WindowEnd::kRepeatShutdown;
  return WindowChange::kCloses;
}

WindowChange WindowMachine::pass_time(std::int64_t now_ns) noexcept {
  if (state_ == WindowState::kOpen && now_ns >= close_ns_) {
    time_cause_ = spool::WindowCause::kDuration;
    return close();
  }
  if (state_ == WindowState::kArmed && plan_.kind == WindowKind::kWhole && now_ns >= due_ns_) return open(now_ns);
  return WindowChange::kNone;
}

WindowChange WindowMachine::begin_content(std::int64_t now_ns) noexcept {
  return state_ == WindowState::kArmed && now_ns >= due_ns_ ? open(now_ns) : WindowChange::kNone;
}

WindowChange WindowMachine::end_content() noexcept {
  return state_ == WindowState::kOpen && plan_.end != WindowEnd::kNone ? close() : WindowChange::kNone;
}

WindowChange WindowMachine::end_for_good() noexcept {
  const bool was_open = state_ == WindowState::kOpen;
  state_ = WindowState::kDone;
  return was_open ? WindowChange::kCloses : WindowChange::kNone;
}

std::int64_t WindowMachine::next_edge_ns() const noexcept {
  if (state_ == WindowState::kOpen) return close_ns_;
  return state_ == WindowState::kArmed && plan_.kind == WindowKind::kWhole ? due_ns_ : kNever;
}

}  // namespace jaxprof::collect

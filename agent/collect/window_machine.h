// When a process's window opens and closes: what was planned (agent/contract/window_plan.h), what has happened so far,
// and what follows from the next event. Times come in as arguments, and nothing is done here: the caller (window.cpp)
// records edges and tells collectors, one caller at a time.
#pragma once

#include <cstdint>

#include "agent/contract/session_page.h"
#include "agent/contract/window_plan.h"
#include "agent/spool/state_record.h"

namespace jaxprof::collect {

// What an event makes of the window.
enum class WindowChange : std::uint32_t { kNone, kOpens, kCloses };

class WindowMachine {
 public:
  // Both clocks read together, when the process attaches; `monotonic_ns` is of CLOCK_MONOTONIC, as all times below. The
  // run's T0 is a wall-clock time: it is placed on the other clock once, here, and a step of the wall clock later on
  // moves nothing.
  void start(const WindowPlan& plan, std::int64_t monotonic_ns, std::int64_t realtime_ns) noexcept;

  // The time is `now_ns`: --delay or --duration may be over.
  WindowChange pass_time(std::int64_t now_ns) noexcept;
  // The program began, or ended, what the window is a window of. Not for kWhole.
  WindowChange begin_content(std::int64_t now_ns) noexcept;
  WindowChange end_content() noexcept;
  // The process or its recording ends: nothing opens from now on.
  WindowChange end_for_good() noexcept;

  // When pass_time() has something to do; INT64_MAX: never, as things are.
  std::int64_t next_edge_ns() const noexcept;
  bool is_open() const noexcept { return state_ == WindowState::kOpen; }
  WindowState state() const noexcept { return state_; }
  // Openings so far.
  std::uint32_t segments() const noexcept { return segments_; }
  // Why the last change came about, as far as time is the reason: kAttach, kDelay, kDuration.
  spool::WindowCause time_cause() const noexcept { return time_cause_; }
  // The window has closed for good, and the job is to end now.
  bool asks_shutdown() const noexcept { return asks_shutdown_; }

 private:
  WindowChange open(std::int64_t now_ns) noexcept;
  WindowChange close() noexcept;
  bool is_last_segment() const noexcept;

  WindowPlan plan_;
  WindowState state_ = WindowState::kDone;
  std::uint32_t segments_ = 0;
  bool asks_shutdown_ = false;
  spool::WindowCause time_cause_ = spool::WindowCause::kAttach;
  std::int64_t due_ns_ = 0;    // when --delay is over
  std::int64_t close_ns_ = 0;  // when --duration of the open segment is over; INT64_MAX: never
};

}  // namespace jaxprof::collect

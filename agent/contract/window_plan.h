// When events are kept: the window. It opens by time, by the program's own cudaProfilerStart, by an NVTX range or at a
// step, and what is recorded between an opening and the next close is a segment. This is the one place that knows how a
// window is written on the command line; the words mean what they mean to nsys, except that a window's end never ends
// the job unless stop-shutdown was asked for.
//
//   --delay SECONDS         opens so long after the run began (T0)
//   --duration SECONDS      closes so long after it opened
//   --capture-range RANGE
//     none
//     cudaProfilerApi             cudaProfilerStart and cudaProfilerStop
//     nvtx:NAME[@DOMAIN]          the NVTX range NAME, in the default domain and in "jaxprof" as with --step-marker, or
//                                 in DOMAIN; NAME@* in any
//     steps:A-B[@NAME[@DOMAIN]]   from the begin of step A to the end of step B of --step-marker, or of that range;
//                                 steps:A for one step
//     steps:A-B[@module=NAME]     the same of the executions of the XLA module NAME
//   --capture-range-end END
//     none                        stays open to the process's end, or to the end of --duration
//     stop                        closes for good
//     stop-shutdown               and asks the job to end
//     repeat[:N]                  opens again, N times in all
//     repeat-shutdown:N           and asks the job to end after the N-th
//
// A name or domain stands in double quotes, with \" and \\ for " and \, if it holds @, :, ", \ or control characters,
// begins or ends with a space, is the domain *, or is a range called module=…. Without quotes, \@ is an @, as nsys has
// it. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/text.h"
#include "agent/contract/step_marker.h"

namespace jaxprof {

enum class WindowKind : std::uint32_t {
  kWhole = 0,     // from attach on, or from T0 + delay on
  kProfiler = 1,  // cudaProfilerStart/Stop
  kRange = 2,     // an NVTX range
  kSteps = 3,     // numbered steps
};

enum class WindowEnd : std::uint32_t { kNone = 0, kStop = 1, kStopShutdown = 2, kRepeat = 3, kRepeatShutdown = 4 };

// Plain memory: it lies in the session page. With kWhole and both times 0 it is open from attach to the end.
struct WindowPlan {
  WindowKind kind = WindowKind::kWhole;
  WindowEnd end = WindowEnd::kStop;
  std::uint32_t repeat_count = 0;    // kRepeat, kRepeatShutdown: openings in all; 0: any number
  std::uint32_t has_own_marker = 0;  // kSteps: `marker` is what the window counts, not --step-marker
  StepMarker marker;                 // kRange: the range; kSteps: see above
  std::uint64_t first_step = 0;      // kSteps
  std::uint64_t last_step = 0;       // included
  std::int64_t delay_ns = 0;         // from T0
  std::int64_t duration_ns = 0;      // 0: no limit
  std::int64_t t0_realtime_ns = 0;   // of the whole run; 0: not agreed on, then the process's attach
};

inline constexpr std::uint64_t kMaxWindowStep = INT64_MAX;

// Reads --capture-range. Null if it could; else what is wrong with `text`, a literal, and `plan` is unchanged. Only
// what the range says is changed: kind, marker and steps.
const char* parse_capture_range(const char* text, WindowPlan* plan) noexcept;
// Reads --capture-range-end, in the same way: end and repeat_count.
const char* parse_capture_range_end(const char* text, WindowPlan* plan) noexcept;
// The inverses; `out` needs kCaptureRangeBytes at most.
inline constexpr std::size_t kCaptureRangeBytes = 512;
void append_capture_range(const WindowPlan& plan, TextBuffer* out) noexcept;
void append_capture_range_end(const WindowPlan& plan, TextBuffer* out) noexcept;

// True if events are kept from attach to the end.
constexpr bool is_always_open(const WindowPlan& plan) noexcept {
  return plan.kind == WindowKind::kWhole && plan.delay_ns == 0 && plan.duration_ns == 0;
}

// What a kSteps window counts.
constexpr const StepMarker& counted_marker(const WindowPlan& plan, const StepMarker& step_marker) noexcept {
  return plan.has_own_marker != 0 ? plan.marker : step_marker;
}

}  // namespace jaxprof

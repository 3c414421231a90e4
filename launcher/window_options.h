// --delay, --duration, --capture-range and its end, --nvtx-capture, --trace, --cupti and --buffer-size: from words to
// the plan that the agents get. The words of a range are agent/contract/window_plan.h's, the names of kinds
// trace_kinds.h's; here is what goes together, and what a person is told of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/contract/session_page.h"

namespace jaxprof::launcher {

// As given; "" where nothing was.
struct WindowWords {
  std::string delay_s, duration_s;
  std::string capture_range, capture_range_end, nvtx_capture;
  std::string trace;
  std::string cupti;
  std::string buffer_size;
};

// What is recorded, and when.
struct Recording {
  WindowPlan window;
  std::uint32_t trace = kDefaultTrace;
  CuptiPolicy cupti = CuptiPolicy::kAuto;
  std::int64_t gpu_buffer_bytes = 64 << 20;  // of a process
};

// kUsage for what cannot be meant. What is taken without effect is told in `remarks`.
Result<Recording> convert_recording(const WindowWords& words, const StepMarker& step_marker,
                                    std::vector<std::string>* remarks);

// The window as options would have it: "--delay 30 --capture-range steps:200-240"; "" if it is always open.
std::string window_words(const WindowPlan& plan);
// "stop-shutdown": the value of --capture-range-end.
std::string end_words(const WindowPlan& plan);
std::string trace_words(std::uint32_t trace);
std::string cupti_words(CuptiPolicy policy);

// "window opens at step 200"; "" if it is always open.
std::string describe_opening(const WindowPlan& plan);
// "window 200-240", as the last line names it.
std::string name_window(const WindowPlan& plan);

}  // namespace jaxprof::launcher

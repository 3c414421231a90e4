#include "launcher/window_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "agent/base/parse_number.h"
#include "agent/base/parse_size.h"
#include "launcher/nearest_word.h"

namespace jaxprof::launcher {
namespace {

constexpr double kMaxSeconds = 1e7;                  // 115 days
constexpr std::int64_t kLeastBufferBytes = 4 << 20;  // sixteen buffers (agent/cupti/buffer_pool.h)

// Seconds with a fraction, as nanoseconds.
Result<std::int64_t> parse_seconds(const char* name, const std::string& text) {
  const auto seconds = parse_double(text);
  if (!seconds || !(*seconds >= 0) || *seconds > kMaxSeconds) {
    return fail(ErrorCode::kUsage,
                fmt::format("{} {}: not a number of seconds from 0 to {:.0f}", name, text, kMaxSeconds));
  }
  return static_cast<std::int64_t>(std::llround(*seconds * 1e9));
}

std::string seconds_text(std::int64_t ns) {
  std::string text = fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// `-c nvtx -p NAME@DOMAIN` is how nsys writes nvtx:NAME@DOMAIN.
Result<std::string> joined_range(const WindowWords& words) {
  if (words.capture_range == "nvtx") {
    if (words.nvtx_capture.empty()) {
      return fail(ErrorCode::kUsage, "--capture-range nvtx: name the range by --nvtx-capture, or write nvtx:NAME");
    }
    return "nvtx:" + words.nvtx_capture;
  }
  if (!words.nvtx_capture.empty() && words.capture_range.starts_with("nvtx:")) {
    return fail(ErrorCode::kUsage, "--capture-range " + words.capture_range + " and --nvtx-capture " +
                                       words.nvtx_capture + " both name the range: leave one of them out");
  }
  if (!words.nvtx_capture.empty()) {
    return fail(ErrorCode::kUsage, "--nvtx-capture " + words.nvtx_capture + " goes with --capture-range nvtx");
  }
  if (words.capture_range == "hotkey") {
    return fail(ErrorCode::kUsage, "--capture-range hotkey: a job on many nodes has no keyboard; write steps:A-B");
  }
  return words.capture_range.empty() ? "none" : words.capture_range;
}

bool repeats(const WindowPlan& plan) {
  return plan.end == WindowEnd::kRepeat || plan.end == WindowEnd::kRepeatShutdown;
}

Status convert_window(const WindowWords& words, const StepMarker& step_marker, WindowPlan* plan) {
  if (!words.delay_s.empty()) {
    auto delay = parse_seconds("--delay", words.delay_s);
    if (!delay) return tl::unexpected(std::move(delay.error()));
    plan->delay_ns = *delay;
  }
  if (!words.duration_s.empty()) {
    auto duration = parse_seconds("--duration", words.duration_s);
    if (!duration) return tl::unexpected(std::move(duration.error()));
    if (*duration == 0)
      return fail(ErrorCode::kUsage, "--duration " + words.duration_s + ": nothing would be recorded");
    plan->duration_ns = *duration;
  }
  auto range = joined_range(words);
  if (!range) return tl::unexpected(std::move(range.error()));
  if (const char* fault = parse_capture_range(range->c_str(), plan); fault != nullptr) {
    return fail(ErrorCode::kUsage, "--capture-range " + *range + ": " + fault);
  }
  if (plan->kind == WindowKind::kSteps && counted_marker(*plan, step_marker).kind == StepMarkerKind::kNone) {
    return fail(ErrorCode::kUsage, "--capture-range " + *range + ": no steps are counted with --step-marker none");
  }
  if (words.capture_range_end.empty()) return {};
  if (const char* fault = parse_capture_range_end(words.capture_range_end.c_str(), plan); fault != nullptr) {
    return fail(ErrorCode::kUsage, "--capture-range-end " + words.capture_range_end + ": " + fault);
  }
  if (plan->kind == WindowKind::kSteps && repeats(*plan) &&
      counted_marker(*plan, step_marker).kind == StepMarkerKind::kXlaModule) {
    return fail(ErrorCode::kUsage, "--capture-range-end " + words.capture_range_end +
                                       ": the executions of an XLA module are counted by each thread, so that a slower "
                                       "one would open the window again; write none or stop");
  }
  if (plan->kind != WindowKind::kWhole) return {};
  if (repeats(*plan)) {
    return fail(ErrorCode::kUsage, "--capture-range-end " + words.capture_range_end + " needs a --capture-range");
  }
  if (plan->end == WindowEnd::kStopShutdown && plan->duration_ns == 0) {
    return fail(ErrorCode::kUsage, "--capture-range-end stop-shutdown needs a --capture-range or a --duration");
  }
  return {};
}

// The kind whose name is the nearest to a misspelt one; "" if none is near.
std::string nearest_kind(const std::string& name) {
  constexpr std::uint32_t kAllKinds = UINT32_MAX;
  std::vector<std::string> kinds;
  const std::string all = trace_words(kAllKinds);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find(',', at), all.size());
    kinds.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return nearest_word(name, kinds);
}

// A name that is not known changes nothing of what the others mean. Where no name is left, neither is the option.
std::uint32_t convert_trace(const std::string& text, std::vector<std::string>* remarks) {
  std::uint32_t kinds = 0;
  std::string unknown, unsupported;
  bool has_kind = false;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string name = text.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    TraceFault fault = TraceFault::kNone;
    kinds |= trace_kind_of(name, &fault);
    has_kind = has_kind || fault == TraceFault::kNone;
    if (fault == TraceFault::kNone) continue;
    std::string& list = fault == TraceFault::kUnknown ? unknown : unsupported;
    list += (list.empty() ? "" : ", ") + name;
    if (fault != TraceFault::kUnknown) continue;
    if (const std::string meant = nearest_kind(name); !meant.empty()) list += " (" + meant + "?)";
  }
  if (!unsupported.empty()) remarks->push_back("--trace: not recorded here: " + unsupported);
  if (!unknown.empty()) remarks->push_back("--trace: no such kind: " + unknown);
  if (!has_kind) {
    remarks->push_back("--trace " + text + " names nothing that is recorded here: it is taken as not given");
    return kDefaultTrace;
  }
  if (kinds != 0 && (kinds & kTraceNccl) == 0) {
    remarks->push_back("--trace leaves nccl out: the job's collective calls are not recorded");
  }
  return kinds;
}

Status convert_cupti(const WindowWords& words, Recording* recording) {
  if (words.cupti.empty() || words.cupti == "auto") return {};
  if (words.cupti == "early") {
    recording->cupti = CuptiPolicy::kEarly;
    return {};
  }
  if (words.cupti != "off") return fail(ErrorCode::kUsage, "--cupti " + words.cupti + ": write auto, early or off");
  if (recording->window.kind == WindowKind::kProfiler) {
    return fail(ErrorCode::kUsage, "--cupti off: --capture-range cudaProfilerApi is seen by CUPTI alone");
  }
  recording->cupti = CuptiPolicy::kOff;
  return {};
}

std::string range_text(const WindowPlan& plan) {
  char buffer[kCaptureRangeBytes];
  TextBuffer out(buffer, sizeof buffer);
  append_capture_range(plan, &out);
  return out.c_str();
}

std::string steps_text(const WindowPlan& plan) {
  if (plan.first_step == plan.last_step) return fmt::format("{}", plan.first_step);
  return fmt::format("{}-{}", plan.first_step, plan.last_step);
}

}  // namespace

Result<Recording> convert_recording(const WindowWords& words, const StepMarker& step_marker,
                                    std::vector<std::string>* remarks) {
  Recording recording;
  if (auto s = convert_window(words, step_marker, &recording.window); !s) return tl::unexpected(std::move(s.error()));
  if (!words.trace.empty()) recording.trace = convert_trace(words.trace, remarks);
  if (auto s = convert_cupti(words, &recording); !s) return tl::unexpected(std::move(s.error()));
  if (words.buffer_size.empty()) return recording;
  const auto bytes = parse_size(words.buffer_size);
  if (!bytes || *bytes < kLeastBufferBytes) {
    return fail(ErrorCode::kUsage, "--buffer-size " + words.buffer_size + ": not a size of 4M or more, such as 64M");
  }
  recording.gpu_buffer_bytes = *bytes;
  return recording;
}

std::string window_words(const WindowPlan& plan) {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : " ") + name + " " + value;
  };
  if (plan.delay_ns != 0) add("--delay", seconds_text(plan.delay_ns));
  if (plan.duration_ns != 0) add("--duration", seconds_text(plan.duration_ns));
  if (plan.kind != WindowKind::kWhole) add("--capture-range", range_text(plan));
  if (plan.end != WindowEnd::kStop) add("--capture-range-end", end_words(plan));
  return is_always_open(plan) ? std::string() : text;
}

std::string end_words(const WindowPlan& plan) {
  char buffer[64];
  TextBuffer out(buffer, sizeof buffer);
  append_capture_range_end(plan, &out);
  return out.c_str();
}

std::string trace_words(std::uint32_t trace) {
  char buffer[kTraceKindsBytes];
  TextBuffer out(buffer, sizeof buffer);
  append_trace_kinds(trace, &out);
  return out.c_str();
}

std::string cupti_words(CuptiPolicy policy) {
  return policy == CuptiPolicy::kOff ? "off" : policy == CuptiPolicy::kEarly ? "early" : "auto";
}

std::string describe_opening(const WindowPlan& plan) {
  if (is_always_open(plan)) return {};
  std::string text = "window opens ";
  const std::string after = seconds_text(plan.delay_ns) + " s after T0";
  switch (plan.kind) {
    case WindowKind::kWhole:
      text += plan.delay_ns != 0 ? after : "with each process";
      break;
    case WindowKind::kProfiler:
      text += "at cudaProfilerStart";
      break;
    case WindowKind::kRange:
      text += "at range " + range_text(plan).substr(std::string("nvtx:").size());
      break;
    case WindowKind::kSteps:
      text += fmt::format("at step {}", plan.first_step);
      break;
  }
  if (plan.kind != WindowKind::kWhole && plan.delay_ns != 0) text += ", not before " + after;
  if (plan.duration_ns != 0) text += " for " + seconds_text(plan.duration_ns) + " s";
  return text;
}

std::string name_window(const WindowPlan& plan) {
  if (plan.kind == WindowKind::kWhole) return "window";
  return "window " + (plan.kind == WindowKind::kSteps ? steps_text(plan) : range_text(plan));
}

}  // namespace jaxprof::launcher

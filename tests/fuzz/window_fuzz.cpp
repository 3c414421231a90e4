// What a window is written as: --capture-range, its end, and the names of -t.
#include <cstring>
#include <string>

#include "agent/contract/trace_kinds.h"
#include "agent/contract/window_plan.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;

namespace {

// What is understood is written in words that mean the same.
void read_range(const std::string& text) {
  WindowPlan plan;
  const WindowPlan untouched;
  if (parse_capture_range(text.c_str(), &plan) != nullptr) {
    fuzz::demand(std::memcmp(&plan, &untouched, sizeof plan) == 0, "what is refused leaves the plan alone");
    return;
  }
  fuzz::demand(plan.first_step <= plan.last_step && plan.last_step <= kMaxWindowStep, "steps are in order");
  fuzz::plant_fault(plan.kind == WindowKind::kSteps && plan.marker.is_any_domain != 0);
  char written[kCaptureRangeBytes];
  TextBuffer out(written, sizeof written);
  append_capture_range(plan, &out);
  fuzz::demand(!out.is_truncated(), "a range fits into its buffer");
  WindowPlan again;
  fuzz::demand(parse_capture_range(written, &again) == nullptr, "what was written is understood");
  fuzz::demand(std::memcmp(&plan, &again, sizeof plan) == 0, "what was written means the same");
}

void read_end(const std::string& text) {
  WindowPlan plan;
  if (parse_capture_range_end(text.c_str(), &plan) != nullptr) return;
  char written[64];
  TextBuffer out(written, sizeof written);
  append_capture_range_end(plan, &out);
  WindowPlan again;
  fuzz::demand(parse_capture_range_end(written, &again) == nullptr && again.end == plan.end &&
                   again.repeat_count == plan.repeat_count,
               "an end is written as it was read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  read_range(text);
  read_end(text);
  TraceFault fault = TraceFault::kNone;
  const std::uint32_t kinds = trace_kind_of(text, &fault);
  fuzz::demand(kinds == 0 || fault == TraceFault::kNone, "a kind is no fault");
  return 0;
}

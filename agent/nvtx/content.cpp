#include "agent/nvtx/content.h"

#include <atomic>
#include <string_view>

#include "agent/contract/step_marker.h"
#include "agent/nvtx/domains.h"
#include "agent/nvtx/registry.h"

namespace jaxprof::nvtx {
namespace {

using spool::WindowCause;

std::atomic<std::uint64_t> content_count{0};  // of the process, as steps.cpp counts steps
std::atomic<std::int64_t> in_last_step{0};    // threads that have pushed the window's last step
std::atomic<nvtxRangeId_t> started_range{0};  // whose end means `started_mark`
std::atomic<std::uint64_t> started_mark{0};

const WindowPlan& plan() noexcept {
  return collect::session_plan().window;
}

// Most texts differ from a name in their first letters.
bool is_name(const char* name, const char* text) noexcept {
  for (; *name == *text; ++name, ++text) {
    if (*name == '\0') return true;
  }
  return false;
}

bool is_marked_text(const StepMarker& marker, const char* text) noexcept {
  if (text == nullptr) return false;
  if (marker.kind == StepMarkerKind::kRange) return is_name(marker.name, text);
  return *text == 'X' && is_step_message(marker, std::string_view(text));  // as XLA's titles begin
}

// 1 + the number of a step that the window counts.
std::uint64_t numbered(const StepMarker& marker, std::uint64_t ordinal, const Given& from) noexcept {
  if (marker.kind == StepMarkerKind::kXlaModule) return 1 + ordinal;
  const auto number = integer_payload(from);
  if (!number) return 1 + ordinal;
  return *number < 0 ? 0 : 1 + static_cast<std::uint64_t>(*number);
}

// A step of the window's marker begins. True if the end of the window's steps is its end. A negative number is 0 here.
bool begin_step(std::uint64_t number) noexcept {
  if (number == 0) return false;
  const std::uint64_t first = 1 + plan().first_step;
  const std::uint64_t last = 1 + plan().last_step;
  if (number > last) {
    collect::content_ended(WindowCause::kStep, number);  // its last step was left out, or other threads are still in it
    return false;
  }
  if (number >= first) collect::content_began(WindowCause::kStep, number);
  return number == last;
}

std::uint64_t own_ordinal(collect::ThreadSink* sink) noexcept {
  if (plan().marker.kind == StepMarkerKind::kXlaModule) return sink->content_count++;
  return content_count.fetch_add(1, std::memory_order_relaxed);
}

Content begin_content(collect::ThreadSink* sink, const Marks& marks, std::uint64_t step, const Given& from) noexcept {
  if (plan().kind == WindowKind::kRange && marks.is_content) {
    const std::uint32_t segment = collect::content_began(WindowCause::kRange, 0);
    return {segment != 0, segment};
  }
  if (plan().kind != WindowKind::kSteps) return {};
  std::uint64_t number = 0;
  if (plan().has_own_marker == 0) {
    if (step == 0) return {};
    number = numbered(collect::step_marker(), step - 1, from);
  } else {
    if (!marks.is_content) return {};
    number = numbered(plan().marker, own_ordinal(sink), from);
  }
  return {true, begin_step(number) ? number : 0};
}

}  // namespace

Marks marks_of(std::uint8_t uses, spool::StringId message) noexcept {
  return {(uses & kHasSteps) != 0 && collect::marks_step(message),
          (uses & kHasContent) != 0 && collect::marks_window(message)};
}

Marks marks_of(std::uint8_t uses, const Given& from) noexcept {
  switch (from.message_type) {
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return marks_of(uses, string_of(from.message.registered));
    case NVTX_MESSAGE_TYPE_ASCII:
      return {(uses & kHasSteps) != 0 && is_marked_text(collect::step_marker(), from.message.ascii),
              (uses & kHasContent) != 0 && is_marked_text(plan().marker, from.message.ascii)};
    case NVTX_MESSAGE_TYPE_UNICODE:
      return marks_of(uses, intern_wide(from.message.unicode));
    default:
      return {};
  }
}

Content begin_pushed_content(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth, const Marks& marks,
                             std::uint64_t step, const Given& from) noexcept {
  if (sink->pushed_content != collect::kNoPlace) return {};
  const Content content = begin_content(sink, marks, step, from);
  // Where the window counts --step-marker, steps.h knows which step is the outermost.
  if (content.mark == 0 && (!content.is_content || plan().has_own_marker == 0)) return content;
  sink->pushed_content = collect::range_place(domain, depth);
  sink->content_mark = content.mark;
  if (content.mark != 0 && plan().kind == WindowKind::kSteps) in_last_step.fetch_add(1, std::memory_order_relaxed);
  return content;
}

Content begin_started_content(collect::ThreadSink* sink, const Marks& marks, std::uint64_t step,
                              const Given& from) noexcept {
  if (plan().has_own_marker != 0 && sink->pushed_content != collect::kNoPlace) return {};
  return begin_content(sink, marks, step, from);
}

void remember_started_content(nvtxRangeId_t range, std::uint64_t mark) noexcept {
  started_mark.store(mark, std::memory_order_relaxed);
  started_range.store(range, std::memory_order_release);
}

void end_pushed_content(std::uint64_t mark) noexcept {
  if (plan().kind == WindowKind::kRange) {
    collect::content_ended(WindowCause::kRange, 0, static_cast<std::uint32_t>(mark));
  } else if (in_last_step.fetch_sub(1, std::memory_order_relaxed) == 1) {
    collect::content_ended(WindowCause::kStep, mark);
  }
}

void end_started_content(nvtxRangeId_t range) noexcept {
  if (started_range.load(std::memory_order_acquire) != range) return;
  started_range.store(0, std::memory_order_relaxed);
  const std::uint64_t mark = started_mark.load(std::memory_order_relaxed);
  const bool is_range = plan().kind == WindowKind::kRange;
  collect::content_ended(is_range ? WindowCause::kRange : WindowCause::kStep, is_range ? 0 : mark,
                         is_range ? static_cast<std::uint32_t>(mark) : 0);
}

}  // namespace jaxprof::nvtx

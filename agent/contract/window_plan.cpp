#include "agent/contract/window_plan.h"

#include <cstring>
#include <string_view>

namespace jaxprof {
namespace {

constexpr std::string_view kNvtx = "nvtx:";
constexpr std::string_view kSteps = "steps:";
constexpr std::string_view kModule = "module=";
constexpr std::string_view kRepeat = "repeat:";
constexpr std::string_view kRepeatShutdown = "repeat-shutdown:";

bool starts_with(std::string_view text, std::string_view start) noexcept {
  return text.size() >= start.size() && std::memcmp(text.data(), start.data(), start.size()) == 0;
}

// Not substr(), which may throw.
std::string_view from(std::string_view text, std::size_t at) noexcept {
  return {text.data() + at, text.size() - at};
}

// A name of the command line, with its quotes undone. `is_quoted`: it is meant as it stands there, whatever it is.
template <std::size_t N>
struct Name {
  char text[N] = {};
  bool is_quoted = false;
};

// Reads a name off the front of `*text`, up to an @ or the end.
template <std::size_t N>
const char* read_name(std::string_view* text, const char* too_long, Name<N>* name) noexcept {
  const char* at = text->data();
  const char* const end = at + text->size();
  std::size_t length = 0;
  name->is_quoted = at < end && *at == '"';
  if (name->is_quoted) ++at;
  for (;; ++at) {
    if (at == end) {
      if (name->is_quoted) return "the quote is not closed";
      break;
    }
    char c = *at;
    if (name->is_quoted ? c == '"' : c == '@') break;
    if (!name->is_quoted && c == '"') return "a quote stands inside a name; write all of the name in quotes";
    if (c == '\\' && at + 1 < end && (name->is_quoted ? at[1] == '"' || at[1] == '\\' : at[1] == '@')) {
      c = *++at;
    } else if (c == '\\' && name->is_quoted) {
      return "in quotes, write \\\\ for a backslash and \\\" for a quote";
    }
    if (length + 1 >= N) return too_long;
    name->text[length++] = c;
  }
  if (name->is_quoted) ++at;
  if (at != end && *at != '@') return "after the closing quote only @ may follow";
  *text = from(*text, static_cast<std::size_t>(at - text->data()));
  return nullptr;
}

// NAME[@DOMAIN], all of `text`.
const char* parse_marked_range(std::string_view text, StepMarker* marker) noexcept {
  Name<sizeof(StepMarker::name)> name;
  Name<sizeof(StepMarker::domain)> domain;
  if (const char* fault = read_name(&text, "the range's name has more than 127 bytes", &name)) return fault;
  if (name.text[0] == '\0') return "the range has no name";
  if (!text.empty()) {
    text = from(text, 1);
    if (const char* fault = read_name(&text, "the domain has more than 63 bytes", &domain)) return fault;
    if (domain.text[0] == '\0') return "no domain follows the @; write NAME@DOMAIN, or NAME@* for any domain";
    if (!text.empty()) return "there is a second @; a name that holds one stands in double quotes";
  }
  marker->kind = StepMarkerKind::kRange;
  std::memcpy(marker->name, name.text, sizeof name.text);
  if (!domain.is_quoted && std::strcmp(domain.text, "*") == 0) {
    marker->is_any_domain = 1;
  } else {
    std::memcpy(marker->domain, domain.text, sizeof domain.text);
  }
  return nullptr;
}

const char* parse_module(std::string_view text, StepMarker* marker) noexcept {
  constexpr std::size_t kCapacity = sizeof(StepMarker::name);
  if (text.empty()) return "module= needs the name of an XLA module, as in steps:3-5@module=jit_train_step";
  for (const char c : text) {
    // XLA's titles end a name with one of the first two.
    if (c == ',' || c == '#' || c == '@' || c == '"') return "the name of an XLA module has no ',', '#', '@' or quote";
  }
  if (text.size() >= kCapacity) return "the module's name has more than 127 bytes";
  marker->kind = StepMarkerKind::kXlaModule;
  std::memcpy(marker->name, text.data(), text.size());
  return nullptr;
}

const char* parse_steps(std::string_view text, WindowPlan* plan) noexcept {
  const std::size_t at = text.find('@');
  const std::string_view numbers(text.data(), at == std::string_view::npos ? text.size() : at);
  const std::size_t dash = numbers.find('-');
  const std::string_view first(numbers.data(), dash == std::string_view::npos ? numbers.size() : dash);
  const std::string_view last = dash == std::string_view::npos ? first : from(numbers, dash + 1);
  if (!parse_decimal(first.data(), first.size(), &plan->first_step) ||
      !parse_decimal(last.data(), last.size(), &plan->last_step) || plan->last_step > kMaxWindowStep) {
    return "not numbers of steps; write steps:A-B, or steps:A for one";
  }
  if (plan->first_step > plan->last_step) return "the last step comes before the first";
  plan->kind = WindowKind::kSteps;
  if (at == std::string_view::npos) return nullptr;
  plan->has_own_marker = 1;
  const std::string_view marker = from(text, at + 1);
  if (starts_with(marker, kModule)) return parse_module(from(marker, kModule.size()), &plan->marker);
  return parse_marked_range(marker, &plan->marker);
}

bool needs_quotes(std::string_view name) noexcept {
  if (name.empty() || name == "*" || starts_with(name, kModule)) return true;
  if (name[0] == ' ' || name[name.size() - 1] == ' ') return true;
  for (const char c : name) {
    if (c == '@' || c == ':' || c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') return true;
  }
  return false;
}

void append_name(const char* name, TextBuffer* out) noexcept {
  if (!needs_quotes(name)) return out->append(name);
  out->append('"');
  for (; *name != '\0'; ++name) {
    if (*name == '"' || *name == '\\') out->append('\\');
    out->append(*name);
  }
  out->append('"');
}

void append_marker(const StepMarker& marker, TextBuffer* out) noexcept {
  if (marker.kind == StepMarkerKind::kXlaModule) {
    out->append(kModule.data(), kModule.size());
    return out->append(marker.name);
  }
  append_name(marker.name, out);
  if (marker.is_any_domain != 0) return out->append("@*");
  if (marker.domain[0] == '\0') return;
  out->append('@');
  append_name(marker.domain, out);
}

// The N of repeat:N.
const char* parse_repeat_count(std::string_view text, std::uint32_t* count) noexcept {
  std::uint64_t value = 0;
  if (!parse_decimal(text.data(), text.size(), &value) || value == 0 || value > UINT32_MAX) {
    return "not a number of repetitions, 1 or more";
  }
  *count = static_cast<std::uint32_t>(value);
  return nullptr;
}

}  // namespace

const char* parse_capture_range(const char* text, WindowPlan* plan) noexcept {
  const std::string_view words(text);
  WindowPlan range;
  const char* fault = nullptr;
  if (words == "cudaProfilerApi") {
    range.kind = WindowKind::kProfiler;
  } else if (starts_with(words, kNvtx)) {
    range.kind = WindowKind::kRange;
    fault = parse_marked_range(from(words, kNvtx.size()), &range.marker);
  } else if (starts_with(words, kSteps)) {
    fault = parse_steps(from(words, kSteps.size()), &range);
  } else if (words != "none") {
    fault = "write none, cudaProfilerApi, nvtx:NAME[@DOMAIN] or steps:A-B[@NAME[@DOMAIN]|@module=NAME]";
  }
  if (fault != nullptr) return fault;
  plan->kind = range.kind;
  plan->has_own_marker = range.has_own_marker;
  plan->marker = range.marker;
  plan->first_step = range.first_step;
  plan->last_step = range.last_step;
  return nullptr;
}

const char* parse_capture_range_end(const char* text, WindowPlan* plan) noexcept {
  const std::string_view words(text);
  WindowEnd end = WindowEnd::kStop;
  std::uint32_t count = 0;
  const char* fault = nullptr;
  if (words == "none") {
    end = WindowEnd::kNone;
  } else if (words == "stop-shutdown") {
    end = WindowEnd::kStopShutdown;
  } else if (words == "repeat") {
    end = WindowEnd::kRepeat;
  } else if (starts_with(words, kRepeat)) {
    end = WindowEnd::kRepeat;
    fault = parse_repeat_count(from(words, kRepeat.size()), &count);
  } else if (starts_with(words, kRepeatShutdown)) {
    end = WindowEnd::kRepeatShutdown;
    fault = parse_repeat_count(from(words, kRepeatShutdown.size()), &count);
  } else if (words != "stop") {
    fault = "write none, stop, stop-shutdown, repeat[:N] or repeat-shutdown:N";
  }
  if (fault != nullptr) return fault;
  plan->end = end;
  plan->repeat_count = count;
  return nullptr;
}

void append_capture_range(const WindowPlan& plan, TextBuffer* out) noexcept {
  switch (plan.kind) {
    case WindowKind::kWhole:
      return out->append("none");
    case WindowKind::kProfiler:
      return out->append("cudaProfilerApi");
    case WindowKind::kRange:
      out->append(kNvtx.data(), kNvtx.size());
      return append_marker(plan.marker, out);
    case WindowKind::kSteps:
      break;
  }
  out->append(kSteps.data(), kSteps.size());
  out->append_number(plan.first_step);
  if (plan.last_step != plan.first_step) {
    out->append('-');
    out->append_number(plan.last_step);
  }
  if (plan.has_own_marker == 0) return;
  out->append('@');
  append_marker(plan.marker, out);
}

void append_capture_range_end(const WindowPlan& plan, TextBuffer* out) noexcept {
  switch (plan.end) {
    case WindowEnd::kNone:
      return out->append("none");
    case WindowEnd::kStop:
      return out->append("stop");
    case WindowEnd::kStopShutdown:
      return out->append("stop-shutdown");
    case WindowEnd::kRepeatShutdown:
      out->append(kRepeatShutdown.data(), kRepeatShutdown.size());
      return out->append_number(plan.repeat_count);
    case WindowEnd::kRepeat:
      break;
  }
  out->append("repeat");
  if (plan.repeat_count == 0) return;
  out->append(':');
  out->append_number(plan.repeat_count);
}

}  // namespace jaxprof

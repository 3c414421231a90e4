#include "agent/contract/step_marker.h"

#include <cstring>

namespace jaxprof {
namespace {

constexpr std::string_view kXlaPrefix = "xla:";
constexpr std::string_view kXlaTitle = "XlaModule:#";
constexpr std::string_view kXlaModuleKey = "hlo_module=";

// `text` and a zero byte; false if they do not fit. No copy(): it may throw.
template <std::size_t N>
bool copy_text(std::string_view text, char (&target)[N]) noexcept {
  if (text.size() >= N) return false;
  if (!text.empty()) std::memcpy(target, text.data(), text.size());
  target[text.size()] = '\0';
  return true;
}

bool starts_with(std::string_view text, std::string_view start) noexcept {
  return text.size() >= start.size() && std::memcmp(text.data(), start.data(), start.size()) == 0;
}

const char* parse_module(std::string_view module, StepMarker* marker) noexcept {
  if (module.empty()) return "xla: needs the name of a module, as in xla:jit_train_step";
  for (const char c : module) {
    if (c == ',' || c == '#' || c == '@') return "the name of an XLA module has no ',', '#' or '@'";
  }
  if (!copy_text(module, marker->name)) return "the module's name has more than 127 bytes";
  marker->kind = StepMarkerKind::kXlaModule;
  return nullptr;
}

const char* parse_range(std::string_view text, StepMarker* marker) noexcept {
  std::string_view name = text;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    const std::string_view domain(text.data() + at + 1, text.size() - at - 1);
    name = std::string_view(text.data(), at);
    if (domain.empty()) return "no domain follows the '@'; write NAME@DOMAIN, or NAME@* for any domain";
    marker->is_any_domain = domain == "*" ? 1 : 0;
    if (marker->is_any_domain == 0 && !copy_text(domain, marker->domain)) return "the domain has more than 63 bytes";
  }
  if (name.empty()) return "the range has no name; write NAME, NAME@DOMAIN, xla:MODULE or none";
  if (!copy_text(name, marker->name)) return "the range's name has more than 127 bytes";
  marker->kind = StepMarkerKind::kRange;
  return nullptr;
}

}  // namespace

const char* parse_step_marker(const char* text, StepMarker* marker) noexcept {
  *marker = StepMarker{};
  const std::string_view words(text);
  if (words == "none") return nullptr;
  const bool is_module = starts_with(words, kXlaPrefix);
  const char* fault = is_module ? parse_module({text + kXlaPrefix.size(), words.size() - kXlaPrefix.size()}, marker)
                                : parse_range(words, marker);
  if (fault != nullptr) *marker = StepMarker{};
  return fault;
}

void append_step_marker(const StepMarker& marker, TextBuffer* out) noexcept {
  switch (marker.kind) {
    case StepMarkerKind::kNone:
      return out->append("none");
    case StepMarkerKind::kXlaModule:
      out->append(kXlaPrefix.data(), kXlaPrefix.size());
      return out->append(marker.name);
    case StepMarkerKind::kRange:
      break;
  }
  out->append(marker.name);
  if (marker.is_any_domain != 0) return out->append("@*");
  // A name that holds an '@' and no domain cannot be written, and is never parsed.
  if (marker.domain[0] == '\0') return;
  out->append('@');
  out->append(marker.domain);
}

bool is_step_domain(const StepMarker& marker, std::string_view domain) noexcept {
  switch (marker.kind) {
    case StepMarkerKind::kNone:
      return false;
    case StepMarkerKind::kXlaModule:
      return domain == kXlaDomain;
    case StepMarkerKind::kRange:
      break;
  }
  if (marker.is_any_domain != 0) return true;
  if (marker.domain[0] != '\0') return domain == marker.domain;
  return domain.empty() || domain == kAnnotationDomain;
}

bool is_step_message(const StepMarker& marker, std::string_view message) noexcept {
  switch (marker.kind) {
    case StepMarkerKind::kNone:
      return false;
    case StepMarkerKind::kXlaModule:
      return xla_module_of(message) == marker.name;
    case StepMarkerKind::kRange:
      break;
  }
  return message == marker.name;
}

std::string_view xla_module_of(std::string_view message) noexcept {
  if (!starts_with(message, kXlaTitle)) return {};
  const char* at = message.data() + kXlaTitle.size();
  const char* const end = message.data() + message.size();
  // Fields "key=value", with a comma between them and a '#' after the last.
  while (at < end) {
    const char* field_end = at;
    while (field_end < end && *field_end != ',' && *field_end != '#') ++field_end;
    const std::string_view field(at, static_cast<std::size_t>(field_end - at));
    if (starts_with(field, kXlaModuleKey)) {
      return {field.data() + kXlaModuleKey.size(), field.size() - kXlaModuleKey.size()};
    }
    if (field_end == end || *field_end == '#') return {};
    at = field_end + 1;
  }
  return {};
}

}  // namespace jaxprof

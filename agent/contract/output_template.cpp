#include "agent/contract/output_template.h"

#include <cstring>

#include "agent/contract/fitted_name.h"

namespace jaxprof {
namespace {

// One macro of a template, found at a '%'.
struct Macro {
  char letter = '\0';          // 'q', 'h', … or '%'
  const char* name = nullptr;  // of 'q': the variable, `name_length` bytes
  std::size_t name_length = 0;
  const char* fallback = nullptr;  // of 'q': text behind ":-", `fallback_length` bytes; null if none
  std::size_t fallback_length = 0;
  std::size_t length = 0;  // of the whole macro in the template
  TemplateFault fault = TemplateFault::kNone;
};

Macro read_macro(const char* text, std::size_t length) noexcept {
  Macro macro;
  if (length < 2) {
    macro.fault = TemplateFault::kUnknownMacro;
    return macro;
  }
  macro.letter = text[1];
  macro.length = 2;
  if (std::strchr("%hprlnJS", macro.letter) != nullptr && macro.letter != '\0') return macro;
  if (macro.letter != 'q' || length < 3 || text[2] != '{') {
    macro.fault = TemplateFault::kUnknownMacro;
    return macro;
  }
  const char* end = static_cast<const char*>(std::memchr(text + 3, '}', length - 3));
  if (end == nullptr) {
    macro.fault = TemplateFault::kUnterminatedMacro;
    return macro;
  }
  macro.length = static_cast<std::size_t>(end - text) + 1;
  macro.name = text + 3;
  macro.name_length = static_cast<std::size_t>(end - macro.name);
  for (std::size_t i = 0; i + 1 < macro.name_length; ++i) {
    if (macro.name[i] != ':' || macro.name[i + 1] != '-') continue;
    macro.fallback = macro.name + i + 2;
    macro.fallback_length = macro.name_length - i - 2;
    macro.name_length = i;
    break;
  }
  return macro;
}

// The variable's name as a string; false if it is empty or longer than any real one.
bool copy_name(const Macro& macro, char (&name)[64]) noexcept {
  if (macro.name_length == 0 || macro.name_length >= sizeof name) return false;
  std::memcpy(name, macro.name, macro.name_length);
  name[macro.name_length] = '\0';
  return true;
}

bool is_per_rank(const Macro& macro, const RankVariables& named) noexcept {
  if (std::strchr("hprln", macro.letter) != nullptr) return true;
  char name[64];
  return macro.letter == 'q' && copy_name(macro, name) && is_per_rank_variable(name, named);
}

void append_number_or_unknown(TextBuffer* out, std::int32_t value) noexcept {
  if (value < 0) {
    out->append("unknown");
  } else {
    out->append_number(static_cast<std::uint64_t>(value));
  }
}

void append_host_and_pid(TextBuffer* out, const TemplateValues& values) noexcept {
  append_file_name(out, values.host);
  out->append('.');
  out->append_number(static_cast<std::uint64_t>(values.pid));
}

// A default may hold a slash, %q{VAR:-a/b}, which in a stem would be a directory.
void append_fallback(const Macro& macro, bool is_stem, TextBuffer* out) noexcept {
  for (std::size_t i = 0; i < macro.fallback_length; ++i) {
    const char c[2] = {macro.fallback[i], '\0'};
    if (is_stem) {
      append_file_name(out, c);
    } else {
      out->append(c);
    }
  }
}

void append_variable(const Macro& macro, bool is_stem, const Env& env, TextBuffer* out,
                     TemplateReport* report) noexcept {
  char name[64];
  const bool has_name = copy_name(macro, name);
  const char* value = has_name ? env.get(name) : nullptr;
  const bool is_given = value != nullptr && *value != '\0';
  if (macro.fallback != nullptr && !is_given) {
    append_fallback(macro, is_stem, out);
  } else if (!is_given) {
    out->append("unset-");
    if (has_name) append_file_name(out, name);
    if (report->unset_variable[0] == '\0') {
      TextBuffer unset(report->unset_variable, sizeof report->unset_variable);
      unset.append(has_name ? name : "?");
    }
  } else if (is_stem) {
    append_file_name(out, value);
  } else {
    out->append(value);
  }
}

// The name of a rank whose template gives none.
void append_name_of_rank(const TemplateValues& values, TextBuffer* out) noexcept {
  if (!values.rank.is_known()) return append_host_and_pid(out, values);
  out->append("rank");
  out->append_number(static_cast<std::uint64_t>(values.rank.rank));
}

void append_macro(const Macro& macro, bool is_stem, const TemplateValues& values, const Env& env, TextBuffer* out,
                  TemplateReport* report) noexcept {
  switch (macro.letter) {
    case '%':
      out->append('%');
      break;
    case 'h':
      append_file_name(out, values.host);
      break;
    case 'p':
      out->append_number(static_cast<std::uint64_t>(values.pid));
      break;
    case 'r':
      if (values.rank.is_known()) {
        append_number_or_unknown(out, values.rank.rank);
      } else {
        append_host_and_pid(out, values);
      }
      break;
    case 'l':
      append_number_or_unknown(out, values.rank.local_rank);
      break;
    case 'n':
      append_number_or_unknown(out, values.rank.node_index);
      break;
    case 'J':
      out->append(values.run->job_id);
      break;
    case 'S':
      out->append(values.run->step_id);
      break;
    case 'q':
      append_variable(macro, is_stem, env, out, report);
      break;
    default:
      break;
  }
}

}  // namespace

std::size_t stem_offset(const char* text) noexcept {
  // A slash inside %q{VAR:-a/b} is a part of the default, not the end of the directory.
  std::size_t offset = 0;
  const std::size_t length = std::strlen(text);
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] == '/') offset = i + 1;
    if (text[i] != '%') continue;
    const Macro macro = read_macro(text + i, length - i);
    if (macro.fault == TemplateFault::kNone) i += macro.length - 1;
  }
  return offset;
}

TemplateReport check_template(const char* text, const RankVariables& named) noexcept {
  TemplateReport report;
  const std::size_t length = std::strlen(text);
  const std::size_t stem = stem_offset(text);
  for (std::size_t i = 0; i < length && report.fault == TemplateFault::kNone; ++i) {
    if (text[i] != '%') continue;
    const Macro macro = read_macro(text + i, length - i);
    report.fault = macro.fault;
    if (report.fault == TemplateFault::kNone && i < stem && is_per_rank(macro, named)) {
      report.fault = TemplateFault::kPerRankDirectory;
    }
    report.fault_offset = i;
    if (report.fault == TemplateFault::kNone) i += macro.length - 1;
  }
  if (report.fault == TemplateFault::kNone && (stem == length || length == 0)) {
    report.fault = TemplateFault::kEmptyStem;
    report.fault_offset = length;
  }
  if (report.fault == TemplateFault::kNone && length >= kPathBytes) report.fault = TemplateFault::kTooLong;
  return report;
}

TemplateReport expand_template(const char* text, std::size_t length, bool is_stem, const TemplateValues& values,
                               const Env& env, TextBuffer* out) noexcept {
  TemplateReport report;
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] != '%') {
      out->append(text[i]);
      continue;
    }
    const Macro macro = read_macro(text + i, length - i);
    if (macro.fault != TemplateFault::kNone) {
      report.fault = macro.fault;
      report.fault_offset = i;
      return report;
    }
    append_macro(macro, is_stem, values, env, out, &report);
    i += macro.length - 1;
  }
  if (out->is_truncated()) report.fault = TemplateFault::kTooLong;
  return report;
}

TemplateReport expand_stem(const char* text, const TemplateValues& values, const Env& env,
                           char (&stem)[kStemBytes]) noexcept {
  TextBuffer out(stem, sizeof stem);
  TemplateReport report = expand_template(text, std::strlen(text), true, values, env, &out);
  report.is_no_name = *stem == '\0' || std::strcmp(stem, ".") == 0 || std::strcmp(stem, "..") == 0;
  if (report.is_no_name) {
    TextBuffer name(stem, sizeof stem);
    append_name_of_rank(values, &name);
  }
  return report;
}

const char* describe(TemplateFault fault) noexcept {
  switch (fault) {
    case TemplateFault::kNone:
      return "nothing wrong";
    case TemplateFault::kUnknownMacro:
      return "not a macro; known are %q{VAR} %q{VAR:-default} %h %p %r %l %n %J %S %%";
    case TemplateFault::kUnterminatedMacro:
      return "%q{ has no closing }";
    case TemplateFault::kPerRankDirectory:
      return "this differs between ranks or nodes, but the directory must be the same on all; use it in the file name";
    case TemplateFault::kEmptyStem:
      return "no file name behind the last /";
    case TemplateFault::kTooLong:
      return "the name is too long";
  }
  return "";
}

}  // namespace jaxprof

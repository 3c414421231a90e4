// A demangled name is RESULT SCOPE::FUNCTION<ARGUMENTS>(PARAMETERS); brackets nest, and "(anonymous namespace)" is a
// scope. Parameters are the last bracket that opens at the outer level, behind the function.
#include "merge/study/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace jaxprof::study {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kEllipsis = "…";

struct Parts {
  std::size_t begin = 0;       // of the function's name
  std::size_t end = 0;         // of the function's name
  std::size_t parameters = 0;  // where they begin; the end where there are none
};

Parts parts_of(std::string_view text) {
  Parts parts{0, text.size(), text.size()};
  int depth = 0;
  bool has_arguments = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (depth == 0 && text.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
      continue;
    }
    if (c == '(' && depth == 0 && i > parts.begin) {
      parts.parameters = i;
      if (!has_arguments) parts.end = i;
      return parts;
    }
    if (c == '<' && depth == 0) {
      parts.end = i;
      has_arguments = true;
    }
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') depth -= depth > 0 ? 1 : 0;
    // What follows a space or a colon is nearer to the function than what went before.
    if (depth == 0 && (c == ' ' || c == ':')) {
      parts.begin = i + 1;
      parts.end = text.size();
      has_arguments = false;
    }
  }
  return parts;
}

// Only C++ names have parts: "nccl:all_reduce" and "fused computation" are names as they are.
bool has_parts(std::string_view text) {
  return text.find('(') != std::string_view::npos || text.find("::") != std::string_view::npos;
}

}  // namespace

std::string demangled(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), std::free};
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string(name);
}

std::string base_name(std::string_view demangled) {
  if (!has_parts(demangled)) return std::string(demangled);
  const Parts parts = parts_of(demangled);
  const auto base = demangled.substr(parts.begin, parts.end - parts.begin);
  return std::string(base.empty() ? demangled : base);
}

std::string short_name(std::string_view demangled, std::size_t width) {
  const Parts parts = has_parts(demangled) ? parts_of(demangled) : Parts{0, demangled.size(), demangled.size()};
  std::string_view text = demangled.substr(parts.begin, parts.parameters - parts.begin);
  if (text.empty()) text = demangled;
  if (text.size() <= width) return std::string(text);
  std::size_t kept = width - 1;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xC0U) == 0x80U) --kept;  // not within a character
  return std::string(text.substr(0, kept)) + std::string(kEllipsis);
}

}  // namespace jaxprof::study

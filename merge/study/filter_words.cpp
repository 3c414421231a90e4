#include "merge/study/filter_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "agent/contract/rank_selection.h"

namespace jaxprof::study {
namespace {

// "1.5", "20ms": seconds without a unit. As ns.
std::optional<std::int64_t> instant(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  double unit_ns = 1e9;
  for (const auto& [unit, ns] : kUnits) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    unit_ns = ns;
    break;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  const double ns = value * unit_ns;
  return ns >= 0 && ns < 9e18 ? std::optional(static_cast<std::int64_t>(std::llround(ns))) : std::nullopt;
}

}  // namespace

Result<TimeSpan> parse_window(const std::string& text) {
  const std::size_t colon = text.find(':');
  const auto wrong = [&text] {
    return fail(ErrorCode::kUsage,
                "--window: \"" + text + "\" is no T0:T1 with T0 before T1; write 12.5:13 or 100ms:250ms");
  };
  if (colon == std::string::npos) return wrong();
  const auto begin_ns = colon == 0 ? std::int64_t{0} : instant(std::string_view(text).substr(0, colon));
  const auto end_ns = colon + 1 == text.size() ? std::numeric_limits<std::int64_t>::max()
                                               : instant(std::string_view(text).substr(colon + 1));
  if (!begin_ns || !end_ns || *begin_ns >= *end_ns) return wrong();
  return TimeSpan{*begin_ns, *end_ns};
}

Status check_list(const char* option, const std::string& list, const char* things, const char* example) {
  std::size_t fault_offset = 0;
  if (list.empty() || check_number_list(list.c_str(), &fault_offset)) return {};
  return fail(ErrorCode::kUsage, std::string(option) + ": not a list of " + things + " from \"" +
                                     list.substr(std::min(fault_offset, list.size())) + "\" on; write " + example);
}

}  // namespace jaxprof::study

#include "agent/base/parse_size.h"

#include <algorithm>
#include <limits>

#include "agent/base/parse_number.h"

namespace jaxprof {
namespace {

// The power of 1024 that a size's last letters stand for; nothing if they are none.
std::optional<int> power_of_1024(std::string_view unit) {
  if (unit.empty()) return 0;
  constexpr std::string_view kLetters = "KMGT";
  const char letter = static_cast<char>(unit.front() & ~0x20);  // the upper case of a letter
  const std::size_t power = kLetters.find(letter);
  const std::string_view rest = unit.substr(1);
  if (power == std::string_view::npos || (!rest.empty() && rest != "B" && rest != "iB")) return std::nullopt;
  return static_cast<int>(power) + 1;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_uint64(text.substr(0, digits));
  const auto power = power_of_1024(text.substr(digits));
  if (!number || !power) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const int shift = 10 * *power;
  if (*number > kMost >> shift) return std::nullopt;
  return static_cast<std::int64_t>(*number << shift);
}

}  // namespace jaxprof

// Validation after RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
#include "merge/runfile/utf8.h"

#include <cstdint>

namespace jaxprof::runfile {
namespace {

// Length in bytes of the valid character at the start of `text`, 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4U : lead >= 0xE0 ? 3U : 2U;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const std::uint8_t second = byte(1);
  const bool is_overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool is_outside = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
  return is_overlong || is_outside ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_bytes(text);
    valid += length > 0 ? text.substr(0, length) : std::string_view{"\xEF\xBF\xBD"};
    text.remove_prefix(length > 0 ? length : 1);
  }
  return valid;
}

}  // namespace jaxprof::runfile

#include "agent/contract/port_range.h"

#include "agent/base/parse_number.h"

namespace jaxprof {

std::optional<PortSpan> parse_port_span(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto low = parse_uint64(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parse_uint64(text.substr(dash + 1));
  if (!low || !high || *low == 0 || *low > *high || *high > UINT16_MAX) return std::nullopt;
  return PortSpan{static_cast<std::uint16_t>(*low), static_cast<std::uint16_t>(*high)};
}

}  // namespace jaxprof

// A range of network ports on a command line: "40000-40099", or one port, "40000". The launcher checks it, on all ranks
// alike, and the observer takes ports from it. Tools only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jaxprof {

// Ends included.
struct PortSpan {
  std::uint16_t low = 0;
  std::uint16_t high = 0;
  bool operator==(const PortSpan&) const = default;
};

// Nothing unless `text` is such a range, from 1 to 65535 and not backwards.
std::optional<PortSpan> parse_port_span(std::string_view text);

}  // namespace jaxprof

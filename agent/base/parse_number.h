// Numbers from text, whole or not at all: "12abc", "", " 7" and values out of range are refused, where atoi and
// strtol accept them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jaxprof {

// Decimal, optional leading '-', nothing else around it.
std::optional<std::int64_t> parse_int64(std::string_view text);
std::optional<std::uint64_t> parse_uint64(std::string_view text);
// A finite decimal number, as std::from_chars reads it.
std::optional<double> parse_double(std::string_view text);

}  // namespace jaxprof

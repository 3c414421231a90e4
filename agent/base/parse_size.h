// Sizes as people write them on a command line: "4G", "512M", "1000000". K, M, G and T are powers of 1024, in either
// case; a "B" or "iB" behind one changes nothing. Whole numbers only, so that what is printed back is what was meant;
// blanks, signs and what does not fit into 63 bits are refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jaxprof {

// Bytes; 0 is allowed. Nothing if `text` is no size.
std::optional<std::int64_t> parse_size(std::string_view text);

}  // namespace jaxprof

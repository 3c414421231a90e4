// A misspelt word of a list: which one was meant. A function from values to values.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jaxprof::launcher {

// The word that `text` becomes with the fewest letters put in, left out, changed or swapped with their neighbour; "" if
// that takes more than two, or as many as it has letters. The first of several.
std::string nearest_word(std::string_view text, std::span<const std::string> words);

}  // namespace jaxprof::launcher

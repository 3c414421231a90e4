// Lists of words as the command line has them: "cuda,nvtx,nccl".
#pragma once

#include <string_view>

namespace jaxprof::runfile {

// Is `word` one of the words between the commas?
constexpr bool has_word(std::string_view list, std::string_view word) {
  for (;;) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace jaxprof::runfile

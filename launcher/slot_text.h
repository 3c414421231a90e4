// Texts that a process wrote into its slot of the session page: it may have died in the middle of one, and it may be a
// job gone wild that wrote anything at all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

namespace jaxprof::launcher {

template <std::size_t N>
std::string text_of(const char (&text)[N]) {
  return std::string(text, std::find(text, text + N, '\0'));
}

// True if `name` names a file of the folder that it is looked for in.
inline bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace jaxprof::launcher

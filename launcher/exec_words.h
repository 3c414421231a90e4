// Words as the exec functions take them.
#pragma once

#include <string>
#include <vector>

namespace jaxprof::launcher {

// Pointers to `words`, which must stay, and a null at the end.
inline std::vector<char*> exec_words(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace jaxprof::launcher

// Texts that a trace names once and then tells by number. Names of a run have a number each already; further ones, such
// as "step 12", get those behind.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/runfile/string_table.h"

namespace jaxprof::exporting {

// One index of one trace. One thread.
class InternedTexts {
 public:
  explicit InternedTexts(std::size_t n_strings) : is_known_(n_strings, false) {}

  // The number (never 0), and whether this is the first time.
  std::pair<std::uint64_t, bool> find(runfile::StringId id) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= is_known_.size()) return {1, !std::exchange(is_unknown_known_, true)};
    const bool is_new = !is_known_[index];
    is_known_[index] = true;
    return {index + 2, is_new};
  }
  std::pair<std::uint64_t, bool> find(std::string_view text) {
    const auto next = is_known_.size() + 2 + others_.size();
    const auto [at, is_new] = others_.try_emplace(std::string(text), next);
    return {at->second, is_new};
  }

 private:
  std::vector<bool> is_known_;
  bool is_unknown_known_ = false;  // an id that is not in the table, as a damaged file may have
  std::unordered_map<std::string, std::uint64_t> others_;
};

}  // namespace jaxprof::exporting

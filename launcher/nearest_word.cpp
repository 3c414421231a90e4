#include "launcher/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace jaxprof::launcher {
namespace {

constexpr std::size_t kMostChanges = 2;

// Optimal string alignment: no letter is changed twice.
std::size_t changes_between(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> least(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        least[i][j] = i + j;
        continue;
      }
      const std::size_t change = from[i - 1] == to[j - 1] ? 0 : 1;
      least[i][j] = std::min({least[i - 1][j] + 1, least[i][j - 1] + 1, least[i - 1][j - 1] + change});
      const bool is_swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swapped) least[i][j] = std::min(least[i][j], least[i - 2][j - 2] + 1);
    }
  }
  return least[from.size()][to.size()];
}

}  // namespace

std::string nearest_word(std::string_view text, std::span<const std::string> words) {
  std::size_t fewest = std::min(kMostChanges + 1, text.size());
  std::string nearest;
  for (const std::string& word : words) {
    if (word.size() > text.size() + kMostChanges || text.size() > word.size() + kMostChanges) continue;
    const std::size_t changes = changes_between(text, word);
    if (changes >= std::min(fewest, word.size())) continue;
    fewest = changes;
    nearest = word;
  }
  return nearest;
}

}  // namespace jaxprof::launcher

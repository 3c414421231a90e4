// Folds neighbours.
#include "merge/runfile/rank_ranges.h"

#include <algorithm>

namespace jaxprof::runfile {

std::string rank_ranges(std::vector<std::int32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  const auto first_known = std::lower_bound(ranks.begin(), ranks.end(), 0);
  const auto n_unknown = first_known - ranks.begin();
  ranks.erase(ranks.begin(), first_known);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  if (!text.empty()) text = (ranks.size() == 1 ? "rank " : "ranks ") + text;
  if (n_unknown > 0) text += (text.empty() ? "" : " and ") + std::to_string(n_unknown) + " of unknown rank";
  return text;
}

}  // namespace jaxprof::runfile

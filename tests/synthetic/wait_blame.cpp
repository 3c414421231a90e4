#include "tests/synthetic/wait_blame.h"

#include <algorithm>
#include <numeric>

namespace jaxprof::synthetic {

WaitBlame wait_and_blame(const std::vector<std::int64_t>& arrival_ns) {
  const std::size_t n = arrival_ns.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&arrival_ns](std::size_t a, std::size_t b) { return arrival_ns[a] < arrival_ns[b]; });
  WaitBlame found{std::vector<double>(n), std::vector<double>(n)};
  double blame_ns = 0;  // of each who has not come yet
  for (std::size_t k = 0; k < n; ++k) {
    found.wait_ns[order[k]] = static_cast<double>(arrival_ns[order[n - 1]] - arrival_ns[order[k]]);
    found.blame_ns[order[k]] = blame_ns;
    if (k + 1 == n) break;
    const auto gap_ns = static_cast<double>(arrival_ns[order[k + 1]] - arrival_ns[order[k]]);
    blame_ns += static_cast<double>(k + 1) * gap_ns / static_cast<double>(n - k - 1);
  }
  return found;
}

}  // namespace jaxprof::synthetic

#include "merge/study/blame.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace jaxprof::study {

WaitSum BlameSharing::share(std::span<const std::int64_t> start_ns, std::span<std::int64_t> blame_ns) {
  const std::size_t n = start_ns.size();
  std::fill(blame_ns.begin(), blame_ns.end(), 0);
  if (n < 2) return {};
  order_.resize(n);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [start_ns](std::uint32_t a, std::uint32_t b) {
    return std::pair(start_ns[a], a) < std::pair(start_ns[b], b);
  });
  const auto at = [&](std::size_t k) { return start_ns[order_[k]]; };
  std::int64_t spread_ns = 0;
  const bool is_too_far = __builtin_sub_overflow(at(n - 1), at(0), &spread_ns) ||
                          spread_ns > std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(n);
  if (is_too_far) return {};
  WaitSum sum;
  std::int64_t share_ns = 0;      // of each who is not there yet
  std::int64_t remainder_ns = 0;  // that did not divide
  for (std::size_t k = 1; k < n; ++k) {
    const auto absent = static_cast<std::int64_t>(n - k);
    const std::int64_t waited_ns = static_cast<std::int64_t>(k) * (at(k) - at(k - 1));
    sum.wait_ns += waited_ns;
    share_ns += waited_ns / absent;
    remainder_ns += waited_ns % absent;
    blame_ns[order_[k]] = share_ns;
  }
  blame_ns[order_[n - 1]] += remainder_ns;
  sum.removable_ns = static_cast<std::int64_t>(n - 1) * (at(n - 1) - at(n - 2));
  return sum;
}

}  // namespace jaxprof::study

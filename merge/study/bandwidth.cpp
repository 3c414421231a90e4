// The factors.
#include "merge/study/bandwidth.h"

namespace jaxprof::study {

std::optional<double> bus_factor(runfile::Coll coll, std::uint32_t n_ranks) {
  using runfile::Coll;
  if (n_ranks == 0) return std::nullopt;
  const double n = n_ranks;
  switch (coll) {
    case Coll::kAllReduce:
      return 2 * (n - 1) / n;
    case Coll::kAllGather:
    case Coll::kReduceScatter:
    case Coll::kAllToAll:
    case Coll::kGather:
    case Coll::kScatter:
      return (n - 1) / n;
    case Coll::kBroadcast:
    case Coll::kReduce:
      return 1;
    default:
      return std::nullopt;
  }
}

double gb_per_s(std::uint64_t size_bytes, double ns) {
  return static_cast<double>(size_bytes) / ns;
}

}  // namespace jaxprof::study

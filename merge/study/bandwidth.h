// nccl-tests' two bandwidths, which its users compare everything with: algorithm bandwidth S/t, and bus bandwidth,
// which is that times a factor so that it does not depend on the number of ranks. S is `size_bytes`; GB is 10^9 bytes.
#pragma once

#include <cstdint>
#include <optional>

#include "merge/runfile/enums.h"

namespace jaxprof::study {

// AllReduce 2(n-1)/n; AllGather, ReduceScatter, AllToAll, Gather, Scatter (n-1)/n; Broadcast, Reduce 1. None for
// Send and Recv, of which no single one's time is known, for what nccl-tests does not define, and for n = 0. Source:
// nccl-tests, doc/PERFORMANCE.md.
std::optional<double> bus_factor(runfile::Coll coll, std::uint32_t n_ranks);

// 10^9 bytes a second; `ns` > 0.
double gb_per_s(std::uint64_t size_bytes, double ns);

}  // namespace jaxprof::study

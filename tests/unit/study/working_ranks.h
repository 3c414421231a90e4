// A job whose ranks work for known times and then meet, for tests of what follows from that.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

inline constexpr std::int64_t kTransferNs = 50;
inline constexpr std::int64_t kJobBeginNs = 1000;

// In step k rank r works own_ns[k][r]; then all ranks meet, and each ends kTransferNs after the last arrival. Steps
// follow each other without a gap, the first begins at kJobBeginNs. Two ranks a node, a GPU each.
runfile::RunTables run_of_working_ranks(const std::vector<std::vector<std::int64_t>>& own_ns);

}  // namespace jaxprof::study::test

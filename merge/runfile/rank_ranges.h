// A list of ranks as people write it,
// for whoever prints findings: "rank 5", "ranks 0-3,7", "ranks 0-3 and 2 of unknown rank".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::runfile {

// Sorted and without repetition; negative ranks are missing ones.
std::string rank_ranges(std::vector<std::int32_t> ranks);

}  // namespace jaxprof::runfile

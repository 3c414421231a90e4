// A list of ranks as people write it: "rank 5", "ranks 0-3,7", "ranks 0-3 and 2 of unknown rank".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::study {

// Sorted and without repetition; negative ranks are missing ones.
std::string rank_ranges(std::vector<std::int32_t> ranks);

}  // namespace jaxprof::study

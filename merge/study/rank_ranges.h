// A list of ranks as people write it: "0-3,7". "unknown rank" for each that is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::study {

// Sorted and without repetition; negative ranks are missing ones.
std::string rank_ranges(std::vector<std::int32_t> ranks);

}  // namespace jaxprof::study

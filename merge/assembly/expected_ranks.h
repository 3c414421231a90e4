// Which ranks should be in a run: all of the job's, less those that the run's selection left out. Tells a rank that was
// lost from one that nobody asked for. Selections by local rank, node or condition cannot be evaluated here for a rank
// that left no record, because its place is not known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::assembly {

enum class Expectation { kYes, kNo, kUnknown };

// `selection` as in TaskStart::selection, e.g. "--ranks 0,8-15 --sample-ranks 4"; "" selects all.
Expectation is_expected(const std::string& selection, std::int32_t rank, std::int32_t world_size);

}  // namespace jaxprof::assembly

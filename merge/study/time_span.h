// From one instant of a run file to another. The merge writes no two whose difference does not fit into 64 bits, nor
// one that does not fit behind the run's epoch; a damaged file may hold any.
#pragma once

#include <cstdint>
#include <limits>

namespace jaxprof::study {

// All in ns; what does not fit is the farthest that does.
inline std::int64_t span_ns(std::int64_t from_ns, std::int64_t to_ns) {
  std::int64_t span_ns = 0;
  if (!__builtin_sub_overflow(to_ns, from_ns, &span_ns)) return span_ns;
  return from_ns < to_ns ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

inline std::int64_t instant_after(std::int64_t from_ns, std::int64_t span_ns) {
  std::int64_t instant_ns = 0;
  if (!__builtin_add_overflow(from_ns, span_ns, &instant_ns)) return instant_ns;
  return span_ns > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace jaxprof::study

// Stretches of the run's time axis. The merge writes no two instants whose difference does not fit into 64 bits, nor
// one that does not fit behind the run's epoch; a damaged file may hold any.
#pragma once

#include <cstdint>
#include <limits>

namespace jaxprof::study {

// [begin_ns, end_ns) on the run's time axis.
struct TimeSpan {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  bool operator==(const TimeSpan&) const = default;
  bool contains(std::int64_t t_ns) const { return begin_ns <= t_ns && t_ns < end_ns; }
};

// All in ns; what does not fit is the farthest that does.
inline std::int64_t span_ns(std::int64_t from_ns, std::int64_t to_ns) {
  std::int64_t span_ns = 0;
  if (!__builtin_sub_overflow(to_ns, from_ns, &span_ns)) return span_ns;
  return from_ns < to_ns ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

// The same without a sign.
inline std::int64_t distance_ns(std::int64_t a_ns, std::int64_t b_ns) {
  return a_ns <= b_ns ? span_ns(a_ns, b_ns) : span_ns(b_ns, a_ns);
}

inline std::int64_t instant_after(std::int64_t from_ns, std::int64_t span_ns) {
  std::int64_t instant_ns = 0;
  if (!__builtin_add_overflow(from_ns, span_ns, &instant_ns)) return instant_ns;
  return span_ns > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace jaxprof::study

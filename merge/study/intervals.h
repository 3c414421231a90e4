// Sets of instants as disjoint stretches, which is what "busy", "idle" and "overlapping" mean: kernels run on several
// streams at once and even overlap on one, so that sums of their lengths exceed the time there is. All lengths are
// whole nanoseconds; those of parts add up to that of the whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/study/time_span.h"

namespace jaxprof::study {

// Add stretches in any order, settle(), then ask.
class Intervals {
 public:
  void reserve(std::size_t n) { spans_.reserve(n); }
  void add(TimeSpan span) {  // an empty or reversed one is left out
    if (span.begin_ns < span.end_ns) spans_.push_back(span);
  }
  // Sorts and joins what overlaps or touches; nearly free if it was added in order.
  void settle();

  // Of settled ones: ascending, disjoint, with gaps between them.
  std::span<const TimeSpan> spans() const { return spans_; }
  bool empty() const { return spans_.empty(); }
  std::int64_t length_ns() const;  // the sum; what does not fit is the farthest that does
  bool contains(std::int64_t t_ns) const;

 private:
  friend Intervals union_of(const Intervals& a, const Intervals& b);
  friend Intervals intersection(const Intervals& a, const Intervals& b);
  friend Intervals difference(const Intervals& a, const Intervals& b);
  std::vector<TimeSpan> spans_;
};

// Of settled ones; settled. In O(a + b).
Intervals union_of(const Intervals& a, const Intervals& b);
Intervals intersection(const Intervals& a, const Intervals& b);
Intervals difference(const Intervals& a, const Intervals& b);  // a without b

}  // namespace jaxprof::study

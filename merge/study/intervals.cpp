// Sweeps over two sorted lists.
#include "merge/study/intervals.h"

#include <algorithm>

namespace jaxprof::study {
namespace {

bool is_before(const TimeSpan& a, const TimeSpan& b) {
  return a.begin_ns < b.begin_ns;
}

}  // namespace

void Intervals::settle() {
  if (!std::is_sorted(spans_.begin(), spans_.end(), is_before)) std::sort(spans_.begin(), spans_.end(), is_before);
  std::size_t kept = 0;
  for (const TimeSpan& span : spans_) {
    if (kept > 0 && span.begin_ns <= spans_[kept - 1].end_ns) {
      spans_[kept - 1].end_ns = std::max(spans_[kept - 1].end_ns, span.end_ns);
    } else {
      spans_[kept++] = span;
    }
  }
  spans_.resize(kept);
}

std::int64_t Intervals::length_ns() const {
  std::int64_t sum_ns = 0;
  for (const TimeSpan& span : spans_) sum_ns = instant_after(sum_ns, span_ns(span.begin_ns, span.end_ns));
  return sum_ns;
}

bool Intervals::contains(std::int64_t t_ns) const {
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), t_ns,
                                      [](std::int64_t t, const TimeSpan& span) { return t < span.begin_ns; });
  return after != spans_.begin() && std::prev(after)->contains(t_ns);
}

Intervals union_of(const Intervals& a, const Intervals& b) {
  Intervals both;
  both.spans_.resize(a.spans_.size() + b.spans_.size());
  std::merge(a.spans_.begin(), a.spans_.end(), b.spans_.begin(), b.spans_.end(), both.spans_.begin(), is_before);
  both.settle();
  return both;
}

Intervals intersection(const Intervals& a, const Intervals& b) {
  Intervals common;
  auto in_a = a.spans_.begin();
  auto in_b = b.spans_.begin();
  while (in_a != a.spans_.end() && in_b != b.spans_.end()) {
    common.add({std::max(in_a->begin_ns, in_b->begin_ns), std::min(in_a->end_ns, in_b->end_ns)});
    if (in_a->end_ns < in_b->end_ns) {
      ++in_a;
    } else {
      ++in_b;
    }
  }
  return common;
}

Intervals difference(const Intervals& a, const Intervals& b) {
  Intervals rest;
  auto in_b = b.spans_.begin();
  for (TimeSpan span : a.spans_) {
    while (in_b != b.spans_.end() && in_b->end_ns <= span.begin_ns) ++in_b;
    for (auto cut = in_b; cut != b.spans_.end() && cut->begin_ns < span.end_ns; ++cut) {
      rest.add({span.begin_ns, cut->begin_ns});
      span.begin_ns = std::max(span.begin_ns, cut->end_ns);
    }
    rest.add(span);
  }
  return rest;
}

}  // namespace jaxprof::study

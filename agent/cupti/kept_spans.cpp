#include "agent/cupti/kept_spans.h"

namespace jaxprof::cupti {

void KeptSpans::open(std::uint64_t now_ns) noexcept {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  Span& span = spans_[count % kSpans];
  span.begin_ns.store(now_ns, std::memory_order_relaxed);
  span.end_ns.store(UINT64_MAX, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
}

void KeptSpans::close(std::uint64_t now_ns) noexcept {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (count > 0) spans_[(count - 1) % kSpans].end_ns.store(now_ns, std::memory_order_release);
}

bool KeptSpans::touches_span(std::uint64_t start_ns, std::uint64_t end_ns) const noexcept {
  const std::uint32_t count = count_.load(std::memory_order_acquire);
  if (end_ns < start_ns) end_ns = start_ns;
  for (std::uint32_t back = 1; back <= count && back <= kSpans; ++back) {
    const Span& span = spans_[(count - back) % kSpans];
    if (end_ns >= span.begin_ns.load(std::memory_order_relaxed)) {
      return start_ns < span.end_ns.load(std::memory_order_acquire);
    }
  }
  return false;
}

}  // namespace jaxprof::cupti

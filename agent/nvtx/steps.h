// Steps, as the program marks them (agent/contract/step_marker.h): which ranges are steps, and their ordinals. They are
// counted from attach on, whether or not events are recorded, so that a window that opens later numbers them right. A
// marker inside a pushed one on its thread is not a step. What no step needs is one look at a flag of the domain; the
// messages that mark steps are known from when they were interned. Any thread, no lock, no allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "agent/collect/event_sink.h"

namespace jaxprof::nvtx {

namespace detail {
extern std::atomic<bool> step_domains[collect::kMaxDomains];
}  // namespace detail

// To be called before the domain's number is given to anyone, and once for the default domain, "".
void note_step_domain(std::uint16_t domain, std::string_view name) noexcept;

// Do ranges of this domain with this message mark steps?
inline bool is_step_marker(std::uint16_t domain, spool::StringId message) noexcept {
  return detail::step_domains[domain].load(std::memory_order_relaxed) && collect::marks_step(message);
}

// What a marker's range is: 1 + the step's ordinal (spool::nvtx_field::kStep), or 0 inside another step of the thread.
std::uint64_t begin_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept;
// The same for a range that is started: such ranges do not nest, so one that is open makes no difference.
std::uint64_t begin_started_step(collect::ThreadSink* sink) noexcept;

// After each pop.
inline void end_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept {
  if (sink->pushed_step == collect::range_place(domain, depth)) [[unlikely]]
    sink->pushed_step = collect::kNoPlace;
}

}  // namespace jaxprof::nvtx

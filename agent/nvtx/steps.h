// Steps, as the program marks them (agent/contract/step_marker.h): which ranges are steps, and their ordinals. They are
// counted from attach on, whether or not events are recorded, so that a window that opens later numbers them right. A
// marker inside a pushed one on its thread is not a step. Any thread, no lock, no allocation.
#pragma once

#include <cstdint>

#include "agent/collect/event_sink.h"

namespace jaxprof::nvtx {

// What a marker's range is: 1 + the step's ordinal (spool::nvtx_field::kStep), or 0 inside another step of the thread.
std::uint64_t begin_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept;
// The same for a range that is started: such ranges do not nest, so one that is open makes no difference.
std::uint64_t begin_started_step(collect::ThreadSink* sink) noexcept;

// After each pop of a domain that has steps. True if it was the step's.
inline bool end_pushed_step(collect::ThreadSink* sink, std::uint16_t domain, std::uint16_t depth) noexcept {
  if (sink->pushed_step != collect::range_place(domain, depth)) return false;
  sink->pushed_step = collect::kNoPlace;
  return true;
}

}  // namespace jaxprof::nvtx

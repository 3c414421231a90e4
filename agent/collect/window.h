// The window of this process: when events are kept, and which segment they belong to. Whoever meets its beginning or
// end (the drain thread for times, a thread that pushes a range or begins a step, a CUPTI callback for
// cudaProfilerStart) opens or closes it here. Events of other threads that are in the middle of being written may land
// on either side of the edge; the segment's stamps are what counts.
#pragma once

#include <cstdint>

#include "agent/spool/state_record.h"

namespace jaxprof::collect {

// To be called once, when the session has started to record: opens the window if it is always open.
void start_window() noexcept;

// Opens or closes the window, unless it is that already or is closed for good. Any thread. `step`: 1 + the step's
// number, or 0.
void open_window(spool::WindowCause cause, std::uint64_t step = 0) noexcept;
void close_window(spool::WindowCause cause, std::uint64_t step = 0) noexcept;

// Closes it for good: no event is kept from then on. exit(), or the drain thread when the recording is stopped.
void end_window(spool::WindowCause cause) noexcept;

}  // namespace jaxprof::collect

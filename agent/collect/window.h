// The window of this process: when events are kept, and which segment they belong to. Whoever meets its beginning or
// end (the drain thread for times, a thread that pushes a range or begins a step, a CUPTI callback for
// cudaProfilerStart) opens or closes it here. Events of other threads that are in the middle of being written may land
// on either side of the edge; the segment's stamps are what counts. What opens and closes when is window_machine.h's.
#pragma once

#include <cstdint>

#include "agent/spool/state_record.h"

namespace jaxprof::collect {

// To be called once, when the session can record, and before any of its threads knows.
void start_window() noexcept;

// Opens or closes the window where --delay or --duration is over. Returns when to call again (CLOCK_MONOTONIC);
// INT64_MAX: not as things are. Drain thread.
std::int64_t pass_window_time() noexcept;

// True once the window has closed for good and the job is to end. Drain thread.
bool is_shutdown_due() noexcept;

// Closes it for good: no event is kept from then on. exit(), or the drain thread when the recording is stopped.
void end_window(spool::WindowCause cause) noexcept;

}  // namespace jaxprof::collect

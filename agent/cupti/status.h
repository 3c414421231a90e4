// What a process says about its GPUs: one line for its user, and the same in its spool. The first thing that went wrong
// is what counts; what follows from it is not added.
#pragma once

#include "agent/contract/session_page.h"

namespace jaxprof::cupti {

// Publishes mode and note (the process's slot, cut to its room; GpuCollectorState, whole), or leaves that to the thread
// that is publishing. Any thread, in a callback too; waits for nobody.
void publish_status(GpuMode mode, const char* note) noexcept;

// How GPUs are recorded with the place that was taken.
GpuMode recording_mode() noexcept;

// CUPTI has ended itself, with `message` or null: publishes that. Once, in its callback.
void tell_end_of_cupti(const char* message) noexcept;
// All that it gave back before has been read: publishes whether there were kernels in it. The flusher.
void tell_what_was_before_end() noexcept;

// A buffer was given to CUPTI; it came back empty, or was read or thrown away: the process's slot tells whoever sees it
// die how many went with it. Any thread.
void note_buffer_held() noexcept;
void note_buffer_done() noexcept;
// So many have been counted as lost: whoever sees the process die is not to count them again.
void note_buffers_written_off(std::uint32_t count) noexcept;

}  // namespace jaxprof::cupti

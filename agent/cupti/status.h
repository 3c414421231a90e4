// What a process says about its GPUs: one line for its user, and the same in its spool. The first thing that went wrong
// is what counts; what follows from it is not added.
#pragma once

#include "agent/base/text.h"
#include "agent/contract/session_page.h"
#include "agent/cupti/library.h"

namespace jaxprof::cupti {

inline constexpr std::size_t kNoteBytes = 768;

// Publishes mode and note (the process's slot, cut to its room; GpuCollectorState, whole). Any thread that is not in a
// callback.
void publish_status(GpuMode mode, const Library& library, const char* note) noexcept;

// A buffer was given to CUPTI; it came back empty, or was read or thrown away: the process's slot tells whoever sees it
// die how many went with it. Any thread.
void note_buffer_held() noexcept;
void note_buffer_done() noexcept;

}  // namespace jaxprof::cupti

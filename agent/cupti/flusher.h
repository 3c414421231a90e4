// The thread that asks CUPTI for records. CUPTI gives a buffer back when it is full, or when it is asked; asked on a
// thread of the job it would hold that up, and it has been seen to hang. So one thread of the agent's own asks once a
// second while the window is open, ends drains, and makes the last flush at exit, for which the process waits a bounded
// time only.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

// Starts the thread once there is something for it to do, not before initialize() has returned: it would wait for the
// lock of cuInit. Drain thread, and exit.
void start_flusher() noexcept;

// There is something to do now. Any thread, inside a callback too.
void wake_flusher() noexcept;

// The last flush: waits for it, at most `timeout_ms`. What CUPTI then still holds is counted. The thread ends, or hangs
// in CUPTI, which is noted.
void finish_flusher(std::uint32_t timeout_ms) noexcept;

}  // namespace jaxprof::cupti

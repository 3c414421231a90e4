// The thread that asks CUPTI for records. CUPTI gives a buffer back when it is full, or when it is asked; asked on a
// thread of the job it would hold that up, and it has been seen to hang. So one thread of the agent's own asks once a
// second while the window is open, ends drains, and makes the last flush at exit, for which the process waits a bounded
// time only.
#pragma once

#include <cstdint>

namespace jaxprof::cupti {

// Makes the thread; false if the system gives none. It does nothing but sleep until wake_flusher() is called with
// `is_ready` set. On a thread of the program, whose descriptors it then shares: CUPTI needs those of the driver.
bool start_flusher() noexcept;

// The flusher disables kinds or gives the place back: waits for the end of that, for a bounded time. False if that was
// not enough. Any thread, inside a callback too.
bool wait_while_closing() noexcept;

// There is something to do now. Any thread, inside a callback too.
void wake_flusher() noexcept;

// CUPTI holds much of the pool: asks for buffers sooner than in turn. Any thread, inside a callback too.
void ask_for_flush() noexcept;

// There is something to do, and that is to tell the collector what the window is by now. Any thread.
void ask_flusher_to_tell() noexcept;

// Asks for the last flush, for which there are `timeout_ms` from the first time that it is asked; returns at once. The
// thread ends when all has come, or hangs in CUPTI. Any thread.
void ask_flusher_to_finish(std::uint32_t timeout_ms) noexcept;

// Is that over, or its time? Launches whose work has not come then have been counted. Any thread.
bool is_flusher_finished() noexcept;

// Asks and waits. Not on the drain thread, which has to read meanwhile what comes.
void finish_flusher(std::uint32_t timeout_ms) noexcept;

}  // namespace jaxprof::cupti

// The drain thread: takes what threads wrote into their rings, encodes it and appends it to the spool. It runs with all
// signals blocked, sleeps between ticks, and is woken early when a ring is half full. It holds nothing that the
// program's threads could wait for.
#pragma once

#include <cstdint>

namespace jaxprof::collect {

// Starts the thread; false if the system gives none. Once a process.
bool start_drain() noexcept;

// Makes the thread look at the rings now.
void wake_drain_thread() noexcept;

// Asks for a last pass with footer and waits for it, at most `timeout_ms`. False if the time was not enough: the spool
// then stays without a footer, and what is in it counts.
bool finish_drain(std::uint32_t timeout_ms) noexcept;

}  // namespace jaxprof::collect

// A thread of our own in somebody else's process. It must not be noticed: no signal of the program may land on it, for
// the program's handlers expect its own threads; nobody joins it, for exit() waits for nobody; and its stack is of its
// own size, for the program may have set a default of a few pages or of gigabytes. Agent-safe; any thread.
#pragma once

#include <cstddef>

namespace jaxprof {

// Starts a detached thread with all signals blocked that runs `main(argument)`. False without one, with the reason in
// errno. `stack_bytes` are address space: pages that are not touched cost nothing.
bool start_service_thread(void* (*main)(void*), void* argument, std::size_t stack_bytes) noexcept;

}  // namespace jaxprof

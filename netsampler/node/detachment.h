// The observer lets go of everything it was started with, for it must not be noticed: it inherits descriptors whose
// last copy somebody waits for, a terminal, signals meant for the job, a core limit, the job's processors. Whatever of
// this cannot be had is done without. Main thread, before others are started.
#pragma once

#include <optional>

namespace jaxprof::netsampler {

// Own session; no descriptor but /dev/null as 0, 1 and 2; working directory /; no signal but SIGTERM and SIGINT does
// anything; no core file; first to go when memory is short.
void detach();

// Wakes up within a microsecond of its deadlines, and has less claim to a processor than the job. `cpu`: the one to run
// on; none: the last of those that are allowed, for jobs bind their threads from the first on; -1: any.
void take_back_seat(std::optional<int> cpu);

// SIGTERM and SIGINT ask this process to end from now on.
void listen_for_end();
// True once one came.
bool is_asked_to_end();

}  // namespace jaxprof::netsampler

// What is to be said of windows: of one process's, that it never opened or was still open at the end; of all together,
// whether they opened for the same thing. A window that opens by content opens at the same step on every rank, without
// anybody's agreement, and if it did not, ranks are compared that did different work; one that opens by the clock opens
// at the same time, as far as the processes were there.
#pragma once

#include <vector>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/windows.h"

namespace jaxprof::assembly {

// The window of a process as it was asked for: "--capture-range steps:200-240", "--delay 10 s"; "" for one that is
// always open, and for spools from before windows.
std::string window_words(const rundir::SpoolTrace& trace);

// Of all processes, the different ones joined by " | ".
std::string windows_of(const RunSources& sources);

// `segments` are those of each process, by position, with their first steps. `clock_bound_ns`: how far the clocks of
// two nodes may be apart; NaN: nobody knows.
void diagnose_windows(const RunSources& sources, const std::vector<std::vector<Segment>>& segments,
                      double clock_bound_ns, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly

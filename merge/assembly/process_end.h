// How a process ended, for one whose spool does not say that it ended by exit(). The wrapper waits for its command
// alone, so that only the command's own process has a signal or an exit code; of all others it is not known what ended
// them, and nothing is guessed.
#pragma once

#include <string>

#include "agent/contract/task_record.h"
#include "merge/assembly/run_sources.h"

namespace jaxprof::assembly {

// How the task of a process ended; null if nobody says.
const TaskEnd* end_of(const RunSources& sources, const SourceProcess& process);

// Of a process whose last events were saved after its death: "ended without its exit handlers, by signal 11 (SIGSEGV)".
std::string death_words(const RunSources& sources, const SourceProcess& process);

// Why a spool has no footer, and who may have the rest of it.
std::string cut_words(const RunSources& sources, const SourceProcess& process);

}  // namespace jaxprof::assembly

// Nodes, or spans of a run on them, of which ports and GPUs were not read although that was asked for. An observer may
// be killed or may never have come to be; what is not there must not be taken for a quiet network.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/run_time.h"

namespace jaxprof::assembly {

// node.not-observed: a node with traced tasks has no observer. node.gap: its observers did not last from its first to
// its last traced task, or one took over from another after a while.
void diagnose_unobserved(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly

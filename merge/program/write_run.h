// The second half of a merge, which jaxprof-merge and jaxprof-merge-mpi have in common: a run that was found becomes a
// run file, with what is to be said of it on the terminal.
#pragma once

#include <functional>
#include <string>

#include "agent/base/result.h"
#include "merge/assembly/assemble_run.h"
#include "merge/program/options.h"

namespace jaxprof::merge {

// One line to standard output.
void print(const std::string& line);

// `assemble` puts the run together. `note` is what choosing the run has to say, "" for nothing. The exit status, or
// what kept the file from being written.
Result<int> write_run(
    const Options& options, const std::string& note,
    const std::function<Result<assembly::AssembledRun>(const assembly::Room&, assembly::EventSink*)>& assemble);

}  // namespace jaxprof::merge

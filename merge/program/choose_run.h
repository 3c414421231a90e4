// A directory may hold several runs: jobs that were started again into it, or neighbours. Which one a merge is about,
// when nobody says: the only one; the only one whose tasks and spools are here, since a spool may have been copied here
// from elsewhere; or the only one that has spools, since a rerun that replaced the spools of the run before leaves that
// one's task records behind.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "merge/rundir/run_directory.h"

namespace jaxprof::merge {

struct ChosenRun {
  rundir::FoundRun run;
  std::string note;  // a line about the runs that were passed over; "" if there are none
};

// `wanted` as --run; "": nobody says. Spools of which nobody knows the run go with the only run there is. kUsage if
// several runs have spools or none is `wanted`, kInputUnreadable if the run has nothing to read.
Result<ChosenRun> choose_run(rundir::RunDirectory directory, const std::string& wanted);

// The runs of a directory, for someone who has to choose one.
std::string list_runs(const rundir::RunDirectory& directory);

}  // namespace jaxprof::merge

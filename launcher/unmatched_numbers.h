// `--ranks 0,99` in a job of 4 ranks: nobody is rank 99, and the run would quietly trace less than was asked for. That
// is no reason to refuse, since one command line serves jobs of many sizes; but it has to be said. Here it is put into
// words, as far as a task can know the numbers of others. A function from values to words.
#pragma once

#include <string>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

// "--ranks names 99, the job has 0 to 3": the largest number of each list that no rank, local rank or node of the job
// has; "" if there is none, or how many there are is not known. `own`: the task's rank.
std::string describe_unmatched_numbers(const Options& options, const RankIdentity& own, const Env& env);

}  // namespace jaxprof::launcher

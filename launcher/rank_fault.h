// A rank that is not what somebody may expect: a number given by hand that is none, a launcher's numbers that do not
// fit together, a batch script of many ranks that starts the command but once. Nothing of it stops the job, and each
// rank goes on with what else is known; but it has to be said, since nothing is guessed silently. A function from
// values to words.
#pragma once

#include <string>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

// What is wrong with the rank that was resolved to `rank`, and what to do about it; one line, "" if nothing is. Where
// the command starts ranks of its own, a wrapper without one lacks nothing. A process that nobody but a person started
// lacks nothing either.
std::string find_rank_fault(const Options& options, const RankIdentity& rank, const Env& env);

}  // namespace jaxprof::launcher

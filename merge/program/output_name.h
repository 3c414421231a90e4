// A run file must never take the place of what it is made from: with -f it would replace a spool that exists only once.
// Names of spools are refused wherever they lie, since another merge may read them, and so is all of a run's state
// folder. What a device or a link would do is told by runfile::check_output.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace jaxprof::merge {

// kUsage if `path` has a spool's name, whole or partial, or lies in a state folder of a run (.run-JOB.STEP.RESTART).
Status check_output_name(const std::string& path);

}  // namespace jaxprof::merge

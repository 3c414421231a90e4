// Where the program is that observes a node, reads its network ports and GPUs: jaxprof-netsampler.
#pragma once

#include <string>

#include "agent/base/env.h"
#include "agent/base/result.h"

namespace jaxprof::launcher {

// Absolute path of the program for one that lies at `program_path`: JAXPROF_NETSAMPLER, else beside it. kNodeNotReady
// if it is not there or may not be executed.
Result<std::string> find_sampler(const std::string& program_path, const Env& env);

}  // namespace jaxprof::launcher

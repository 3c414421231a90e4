// `jaxprof doctor`: is this node fit to be profiled? It asks the observer's own program, which reads what it would read
// in a job, with the rights that this user has here.
#pragma once

#include <string>

#include "agent/base/result.h"

namespace jaxprof::launcher {

// What `program --probe` writes to its standard output, with --clock-meet `meeting_folder` if that is not "".
// kNodeNotReady, with the reason, if it cannot be started, fails, or has not ended after `limit_s`.
Result<std::string> ask_sampler(const std::string& program, const std::string& meeting_folder, unsigned limit_s);

}  // namespace jaxprof::launcher

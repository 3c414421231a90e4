// `jaxprof doctor`: is this node fit to be profiled? It asks the observer's own program, which reads what it would read
// in a job, with the rights that this user has here.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "launcher/collect/options.h"

namespace jaxprof::launcher {

// What `program --probe` writes to its standard output, with what `options` say of clocks. kNodeNotReady, with the
// reason, if it cannot be started, fails, or has not ended after `limit_s`.
Result<std::string> ask_sampler(const std::string& program, const DoctorOptions& options, unsigned limit_s);

}  // namespace jaxprof::launcher

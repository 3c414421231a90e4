// `--dry-run`: what jaxprof-exec would do here, without doing it.
#pragma once

#include <string>

#include "agent/base/env.h"
#include "launcher/launch_plan.h"
#include "launcher/node.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

// The text to print. Reads files, makes none.
std::string describe_dry_run(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env);

}  // namespace jaxprof::launcher

// `jaxprof-exec --check`: would this job be profiled on all of its ranks? Every check of a real run is made, no job is
// started, and what is wrong comes as one table. Inside `srun -n64` each rank finds its own faults and leaves them in
// the run's state folder; rank 0 waits some seconds for the others (this is no job, so it may) and prints for all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/env.h"
#include "agent/base/result.h"
#include "launcher/launch_plan.h"
#include "launcher/node.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

struct Finding {
  bool is_fault = false;  // else a remark: the rank is profiled all the same
  std::string text;       // without what is different on each rank, so that equal ones can be put together
};

// What one rank found.
struct RankFindings {
  std::int64_t rank = -1;
  std::string host;
  bool has_made_directory = false;  // the run directory was not there before the check
  std::vector<Finding> findings;
};

std::string to_text(const RankFindings& findings);
Result<RankFindings> parse_findings(std::string_view text);

// {0, 1, 2, 7} -> "0-2,7"
std::string compact_ranks(std::vector<std::int64_t> ranks);

// The table: one line for each different finding, faults first. `world_size` below 1: unknown.
std::string make_table(const std::vector<RankFindings>& all, std::int32_t world_size, const std::string& directory);

// Makes the checks; what they make on disks is removed again, but for folders.
RankFindings find_faults(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env);

// The program's exit status: 0, or 6 for a fault.
int run_check(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env);

}  // namespace jaxprof::launcher

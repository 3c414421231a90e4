// What this task will be, decided from the command line and the environment alone: whose rank it is, whether it is
// traced, and under which names. A function from values to values; nothing is made or looked at on a disk.
#pragma once

#include <string>

#include "agent/base/env.h"
#include "agent/contract/output_template.h"
#include "agent/contract/rank_identity.h"
#include "agent/contract/rank_selection.h"
#include "launcher/node.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

struct LaunchPlan {
  RankIdentity rank;
  RankVariables rank_variables;  // that each process asks too
  bool has_inner_ranks = false;  // the command starts ranks of its own
  RunIdentity run;
  std::string task;             // name in the records
  bool is_single_node = false;  // single_node.h
  bool is_wrapped = true;       // false: no rank of the task is selected
  std::string undecided;        // "VAR, which is not known here": what the selection depends on; "" if it is decided
  bool is_task_taken = true;    // `rank` is selected: left to decide are only ranks that the command starts
  RankSelection residual;       // what is left for each process to decide
  std::string directory;        // expanded; no slash at its end unless it is "/"
  std::string state_directory;
  std::string stem_template;
  std::string stem;               // what a process with the task's own rank writes to; "" if only the process can know
  bool is_named_by_rank = false;  // another rank would write to another file
  std::string rank_fault;         // rank_fault.h
  std::string unmatched_numbers;  // unmatched_numbers.h
  std::string unset_variable;     // named in the template and not set, or empty; "" if none
  bool is_nameless = false;       // the template gives no name for a file here: `stem` is the rank's
  std::string fault;              // why the output has no usable name; "" if it has

  // The wrapper that speaks for the run: of rank 0, or of a run whose ranks are not known.
  bool is_speaker() const { return rank.rank <= 0; }
};

LaunchPlan make_launch_plan(const Options& options, const Node& node, const Env& env);

}  // namespace jaxprof::launcher

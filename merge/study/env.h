// Did all ranks run with the same settings? One row a variable and value, those first in which ranks differ that should
// be alike.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool env_wants(std::string_view path);
// Of the whole run.
Table env(const runfile::RunTables& run, const StudyOptions& options = {});

inline constexpr Study kEnv = {
    "env",
    "which variables did the ranks get, and who got something else?",
    R"(env: rows (variable, value, tasks, ranks, differs). One row a variable and value; one more where the variable is set on
some tasks only, for those on which it is not. What jaxprof-exec records is in its --help, under --env and --env-allow.

  differs     no: all tasks have one value. by local rank: tasks with one local rank are alike on all nodes, of which
              there are several; taken for meant. by node: tasks of one node are alike, nodes are not. by task: neither.
              set by launcher: SLURM_PROCID, CUDA_VISIBLE_DEVICES and their kind, which are others on each task or node.
  drift       differs by node or by task, and no launcher is known to set it so: ranks differ that should be alike. These
              come first, then what differs by local rank, then the rest; within one variable most tasks come first.

Of a variable with many values the first eight are shown, values and ranks are cut: --all shows all, in full, as csv,
tsv and json do. A file that
was made with jaxprof-merge --redact has no values, and still tells who differs.
)",
    kTakesAll,
    env_wants,
    env};

}  // namespace jaxprof::study

// A task that is going to be profiled: everything that lies ready for it before its job starts, on the node and in the
// run directory. Setting up is all that can fail differently on different ranks, so a failure here never stops a
// job: the caller starts it unprofiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/env.h"
#include "agent/base/file_lock.h"
#include "agent/base/result.h"
#include "agent/contract/session_page.h"
#include "agent/contract/task_record.h"
#include "launcher/launch_plan.h"
#include "launcher/node.h"
#include "launcher/node_folder.h"
#include "launcher/options.h"
#include "launcher/output_claim.h"

namespace jaxprof::launcher {

struct Task {
  Node node;
  LaunchPlan plan;
  std::string name;                       // of its records: plan.task, longer if that is in use
  std::string spool_directory;            // node-local, private
  FileLock owner;                         // of the spool directory: says that this wrapper lives
  std::optional<NodeFolder> node_folder;  // shared with the node's other tasks; none where it cannot be made
  SessionPage* page = nullptr;            // mapped until the process ends
  std::optional<OutputClaim> claim;
  ClaimRules claim_rules;
  TaskStart start;
  std::vector<std::string> environment;  // of the job
};

// Makes directories, session page, name claim and start record. Says notes for people on stderr unless quiet. After a
// failure nothing of the task is left but the run directory.
Result<Task> set_up_task(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env);

// Undoes set_up_task for a job that could not be started.
void take_down_task(Task& task);

// Removes the task's node-local folder.
void remove_spool_directory(const Task& task);

// The start record of a task that runs unprofiled because of `reason`. Where the run directory is out of reach, it
// cannot be told, and the line on stderr has to do.
void record_unprofiled_task(const Options& options, const Node& node, const LaunchPlan& plan,
                            const std::string& reason);

// kOutputFailed if run directory or state folder can neither be found nor made.
Status make_run_directory(const LaunchPlan& plan);

}  // namespace jaxprof::launcher

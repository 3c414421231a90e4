// Tasks that may have left something on this node. Every task notes in its start record where its spool folder is; if
// that folder is here, and the session page in it says that it is that task's, the task has not taken it away.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/contract/session_page.h"
#include "agent/contract/task_record.h"
#include "launcher/node.h"

namespace jaxprof::launcher {

struct LeftTask {
  std::string state_directory;  // of its run
  TaskStart start;
  SessionPage* page = nullptr;  // mapped until the process ends; null: see `fault`
  std::string fault;            // why a folder that is here cannot be used
  bool is_of_this_boot = false;
};

// Those of `run_id`, or of all runs below `directory` if that is "". kInputUnreadable if the directory cannot be read
// or holds no run, kUsage if it does not hold that one.
Result<std::vector<LeftTask>> find_left_tasks(const std::string& directory, const std::string& run_id,
                                              const Node& node);

// Profiled tasks of `run_id` (of all runs if "") that began on other nodes and have no end record: they run, or were
// killed with their wrappers. By node name.
std::map<std::string, std::vector<std::int64_t>> ranks_without_end_elsewhere(const std::string& directory,
                                                                             const std::string& run_id,
                                                                             const Node& node);

}  // namespace jaxprof::launcher

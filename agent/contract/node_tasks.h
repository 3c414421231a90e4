// The tasks of a run on one node are registered in a folder that they share (run_layout.h): one with a wrapper by a
// file that the wrapper holds locked, one without by the process's number and start. Nobody is in charge of the folder.
// Whoever leaves takes it away if no living task is registered any more, and the node's observer ends then. A file
// alone means nothing, since its task may have been killed. Tools only.
#pragma once

#include <set>
#include <string>

namespace jaxprof {

// Looks at the folder again and again. One thread an object.
class NodeTasks {
 public:
  explicit NodeTasks(std::string folder) : folder_(std::move(folder)) {}

  // True if a task is registered and lives. A folder that is not there has none. Reads the folder, and asks the kernel
  // about each task: some ten microseconds a task.
  bool is_any_alive();
  // The same of the tasks with a wrapper, which are the traced ones.
  bool is_any_traced_alive();

 private:
  bool is_alive(const std::string& name);

  std::string folder_;
  std::set<std::string> ended_;  // processes without a wrapper that were seen to have ended: none comes back
};

// Removes the folder with all that is in it, unless a living task is registered. A dead task's file goes in any case.
void remove_deserted_node_folder(const std::string& folder);

}  // namespace jaxprof

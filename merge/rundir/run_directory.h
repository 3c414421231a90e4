// What lies in a run directory: which runs wrote there, what their tasks said, and which spools belong to which.
// Nothing is taken from file names but what kind of file it is; a spool says itself whose it is. Files that cannot be
// read are kept in the answer with the reason, so that they are reported and not overlooked.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/contract/task_record.h"
#include "merge/rundir/variable_pool.h"

namespace jaxprof::rundir {

struct UnreadableFile {
  std::string path;
  std::string reason;
};

struct FoundTask {
  TaskStart start;
  std::optional<TaskEnd> end;
  std::vector<std::uint32_t> variables = {};  // numbers in FoundRun::variables; start.environment is empty
};

struct FoundRun {
  std::string directory;
  std::string run_id;
  std::vector<FoundTask> tasks;          // by rank, tasks without one last
  std::vector<std::string> spools;       // paths; sorted
  std::vector<std::string> node_spools;  // paths of what observers of nodes left; sorted
  std::vector<UnreadableFile> unreadable_records;
  std::vector<std::string> foreign_spools;  // of other runs, lying among this one's; filled by who chooses the run
  VariablePool variables = {};              // of all tasks
  bool is_to_be_redacted = false;           // asked for by who merges (assembly/redaction.h)
};

struct RunDirectory {
  std::string path;
  std::vector<FoundRun> runs;                     // sorted by run id
  std::vector<UnreadableFile> unreadable_spools;  // of no run that could be told
};

// Reads the folder `given` and the first block of each spool; of a file only that. An empty STEM.jxspool.part is a name
// that a task has claimed, and no spool. kInputUnreadable: no such folder, or not one spool or task record in it.
Result<RunDirectory> read_run_directory(const std::string& given);

}  // namespace jaxprof::rundir

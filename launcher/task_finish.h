// What a wrapper does once its job has ended: bring the rest of the spools over, write the end record, remove what lies
// on the node, and find the words for people. All that touches the shared storage is here, so that it can be done by a
// process that the wrapper need not wait for.
#pragma once

#include <string>
#include <vector>

#include "agent/spool/publisher.h"
#include "launcher/options.h"
#include "launcher/spool_collection.h"
#include "launcher/supervisor.h"
#include "launcher/task.h"

namespace jaxprof::launcher {

// A task's spools, as its own wrapper sees them.
SpoolSource source_of(const Task& task);

// Writes how the job ended beside the spools, before anything waits for shared storage: whoever comes after a killed
// wrapper, or one whose run directory cannot be written, finds it there.
void keep_end_on_node(const Task& task, const JobStatus& job, pid_t job_pid);

// Returns lines for stderr. `job_pid`: of the command, 0 if it could not be started. What cannot be published until
// time is up stays in the spool folder, as does everything if the end record cannot be written.
std::vector<std::string> finish_task(const Options& options, const Task& task, const JobStatus& job, pid_t job_pid,
                                     SpoolCollection& spools, const spool::IsTimeUp& is_time_up);

}  // namespace jaxprof::launcher

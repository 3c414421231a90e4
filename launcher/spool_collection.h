// After the job: what its processes left in the task's spool folder goes to the run directory, each under the name of
// its rank. The first process of a rank gets the rank's name, further ones HOST.PID behind it; a process that recorded
// nothing, because it was not selected or could not, is on record with the reason.
#pragma once

#include "agent/contract/task_record.h"
#include "agent/spool/publisher.h"
#include "launcher/supervisor.h"
#include "launcher/task.h"

namespace jaxprof::launcher {

// Publishes what can be published until time is up. In the record, `kept` names what is still on the node. Removes
// the spool folder if nothing is, and the task's name claim if no process used it.
TaskEnd collect_spools(const Task& task, const JobStatus& job, const spool::IsTimeUp& is_time_up);

}  // namespace jaxprof::launcher

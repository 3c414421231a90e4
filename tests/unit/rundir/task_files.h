// The task records of a run directory, as wrappers leave them.
#pragma once

#include <string>

#include "agent/contract/run_layout.h"
#include "agent/contract/task_record.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::test {

// Rank `rank` of a job of `world_size`, profiled, on `host`; pid and boot id as in Recording(rank, world_size, host).
inline TaskStart task_start(std::int64_t rank, std::int64_t world_size, const std::string& host = "n0") {
  TaskStart start;
  start.run_id = "7.0.0";
  start.job_id = "7";
  start.step_id = "0";
  start.task = std::to_string(rank);
  start.rank = rank;
  start.world_size = world_size;
  start.launcher = "slurm";
  start.host = host;
  start.boot_id = host + "-boot";
  start.pid = 500 + rank;
  start.is_profiled = true;
  start.spool_directory = "/spool/" + start.task;
  start.command = {"python", "train.py"};
  return start;
}

inline TaskEnd task_end(std::int64_t rank) {
  TaskEnd end;
  end.task = std::to_string(rank);
  end.exit_code = 0;
  return end;
}

inline void write_start(const std::string& state_folder, const TaskStart& start) {
  write_file(run_layout::task_start_path(state_folder, start.task), to_json(start));
}
inline void write_end(const std::string& state_folder, const TaskEnd& end) {
  write_file(run_layout::task_end_path(state_folder, end.task), to_json(end));
}

}  // namespace jaxprof::test

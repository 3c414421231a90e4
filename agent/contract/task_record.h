// What a wrapper tells the merge about its task, in two small JSON files of the run's state folder: one before the job
// starts, one after it ended. A rank that could not be profiled is thereby known with its reason, and a rank that has a
// start but no end was killed together with its wrapper.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof {

struct TaskStart {
  std::string run_id;
  std::string job_id;
  std::string step_id;
  std::int64_t restart = 0;
  std::string task;  // run_layout::task_name
  std::int64_t rank = -1;
  std::int64_t world_size = -1;
  std::int64_t local_rank = -1;
  std::int64_t node_index = -1;
  std::string launcher;
  std::string rank_variable;
  std::string host;
  std::string boot_id;
  std::int64_t pid = 0;
  std::int64_t realtime_ns = 0;  // CLOCK_REALTIME
  bool is_profiled = false;
  bool has_inner_ranks = false;     // the command starts ranks of its own, which decide for themselves
  std::string reason;               // why it is not profiled
  std::string output;               // the output template
  bool can_replace_files = false;   // -f: finished files of other, ended runs
  std::string stem;                 // the STEM that was claimed for the task's own process
  std::string spool_directory;      // on the node
  std::vector<std::string> notes;   // e.g. that the name was taken
  std::string selection;            // options that select ranks, as given; "" if none
  std::string window;               // options of the window, in full; "" if it is always open
  std::string trace;                // -t in full: "cuda,nvtx,nccl,nic,gpu"; no nic with --nic-nodes none
  std::string cupti;                // --cupti
  std::int64_t t0_realtime_ns = 0;  // CLOCK_REALTIME that --delay counts from; 0: each process's attach
  std::vector<std::string> command;
  // Variables that the command gets, of those that may be recorded (launcher/recorded_environment.h); by name.
  std::map<std::string, std::string> environment;
  bool has_environment = false;          // false: not recorded (--env off, or an older jaxprof)
  std::int64_t environment_dropped = 0;  // variables for which there was no room
  std::string version;                   // of jaxprof
};

struct PublishedProcess {
  std::int64_t slot = 0;  // -1: it never had one
  std::int64_t pid = 0;
  std::int64_t rank = -1;
  std::string state;  // "ended", "saved" (by its wrapper), "cut" (no footer), "not-selected", "failed",
                      // "stopped" (attached after the task's recording had been stopped)
  std::string spool;  // file name in the run directory; "" if none
  std::string kept;   // path on the node of a spool that could not be published; "" if none
  std::string note;
  std::int64_t events = 0;   // records of calls and ranges that it took
  std::int64_t dropped = 0;  // sum of its drop counters, without events that are kept in part (is_kept_in_part)
  std::int64_t bytes = 0;    // of its spool, as published
  std::string window = {};  // at its end: "armed" (closed, could have opened), "open", "done"; "" if it was always open
  std::int64_t segments = 0;  // openings of the window
  std::string gpu_fault =
      {};  // why its GPUs were not recorded, or not to the end; "" if they were, or were not asked for
};

struct TaskEnd {
  std::string task;
  std::int64_t pid = 0;         // of the command; 0: it could not be started, or unknown
  std::int64_t exit_code = -1;  // -1: died of `signal`, or unknown where that is 0
  std::int64_t signal = 0;
  std::int64_t realtime_ns = 0;
  bool is_collected = false;  // written by `jaxprof collect` for a wrapper that had been killed
  std::vector<PublishedProcess> processes;
  std::vector<std::string> notes;
};

std::string to_json(const TaskStart& start);
std::string to_json(const TaskEnd& end);
// kInputUnreadable with the member at fault when `text` is not such a record.
Result<TaskStart> parse_task_start(const std::string& text);
Result<TaskEnd> parse_task_end(const std::string& text);

}  // namespace jaxprof

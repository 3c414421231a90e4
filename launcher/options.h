// What a person asked for: the command line of jaxprof-exec, preceded by what the variable JAXPROF_OPTIONS holds.
// Options end at the first word that is not one, so that `srun jaxprof-exec -o x python -u train.py -o y` needs no
// "--". Everything found wrong here is the same on every rank of a job, which is why it may refuse to start the job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/contract/rank_identity.h"
#include "agent/contract/rank_selection.h"
#include "agent/contract/step_marker.h"
#include "launcher/window_options.h"

namespace jaxprof::launcher {

enum class OnConflict {
  kKeep,     // a foreign profiler's hook stays, the rank runs unprofiled
  kReplace,  // ours takes its place
};

enum class NicNodes {
  kTraced,  // nodes with a traced task
  kAll,     // of the run
  kNone,
};

// What the observer of a node does, beside what -t says. Of GPUs only -t tells.
struct ObserverOptions {
  NicNodes nic_nodes = NicNodes::kTraced;
  std::uint32_t nic_hz = 0;  // 0: by the driver
  std::string nic_source;    // "auto", "netlink", "sysfs" or "netdev"; "": as auto
  bool has_clock = true;     // clocks are read, and compared with those of other nodes
  std::string clock_ports;   // as parse_port_span takes it; "": any
};

enum class Mode {
  kRun,
  kDryRun,  // say what would be done
  kCheck,   // try what a run needs
  kHelp,    // `text` is to be printed
};

struct Options {
  Mode mode = Mode::kRun;
  std::string text;  // of kHelp: help or version
  std::string output = "jaxprof.%J.%S/rank%r";
  bool can_replace_files = false;
  RankVariables rank_variables;  // --rank-from
  RankSelection selection;
  std::string selection_words;   // the options that select ranks, as given; "" if none
  bool has_inner_ranks = false;  // given, or seen by the command
  StepMarker step_marker;        // what the program's steps are known by
  Recording recording;           // what is recorded, and when
  ObserverOptions observer;
  std::string spool_base;                         // "": by the environment
  std::optional<std::int64_t> spool_limit_bytes;  // of the task's spools together; 0: none; not given: by the disk
  std::int64_t margin_ns = 60'000'000'000;        // recording stops so long before the job's time limit; 0: it does not
  bool is_strict = false;
  bool is_quiet = false;
  OnConflict on_conflict = OnConflict::kKeep;
  std::int64_t grace_ns = 10'000'000'000;       // most time between the job's end and ours
  std::int64_t publish_bytes_per_s = 64 << 20;  // of all tasks of a node, while the job runs; 0: only after its end
  bool waits_for_all = false;            // --wait all: the wrapper outlives the command until all that it left ended
  std::vector<std::string> environment;  // --env-var: "NAME=VALUE" each, of the job
  bool records_environment = true;       // --env
  std::vector<std::string> environment_patterns;  // --env-allow: variables to be recorded beside those that always are
  std::vector<std::string> remarks;               // one line each, on options that are taken without effect
  std::vector<std::string> option_words;          // the command line's own, as given, without "--"
  std::vector<std::string> command;
};

// `arguments` without the program's name; `from_environment` is JAXPROF_OPTIONS, or null. kUsage for every fault.
Result<Options> parse_options(const std::vector<std::string>& arguments, const char* from_environment);

}  // namespace jaxprof::launcher

// The command line of `jaxprof`, whose first word is a command.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

struct CollectOptions {
  std::string directory;
  std::string run;  // "": all runs of the directory
  bool is_quiet = false;
  bool is_dry_run = false;
};

struct DoctorOptions {
  bool is_json = false;        // print what the sampler said, as it is
  std::string meeting_folder;  // where it meets other nodes'; "": nowhere
  std::string clock_ports;     // LO-HI; "": any
};

enum class Command { kCollect, kDoctor, kText };

struct Invocation {
  Command command = Command::kText;
  std::string text;        // kText: to be printed, and nothing else is to be done (help, version)
  CollectOptions collect;  // kCollect
  DoctorOptions doctor;    // kDoctor
};

// `arguments` without the program's name. kUsage for every fault.
Result<Invocation> parse_invocation(std::vector<std::string> arguments);

}  // namespace jaxprof::launcher

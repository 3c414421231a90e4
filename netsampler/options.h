// The command line of jaxprof-netsampler. jaxprof-exec uses it in one way, people in two.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "netsampler/clock/probe_sockets.h"
#include "netsampler/nic/nic_sampler.h"
#include "netsampler/node/node_spool.h"

namespace jaxprof::netsampler {

enum class Mode {
  kRun,    // observe the node for the tasks of a run
  kFile,   // sample into one file
  kProbe,  // say what there is
  kText,   // print `text`
};

// Paths are absolute.
struct Options {
  Mode mode = Mode::kProbe;
  std::string text;
  NodeIdentity identity;     // kRun
  std::string run_state;     // kRun: the run's state folder, on shared storage
  std::string node_folder;   // kRun: what the tasks of the run share on this node
  std::string output;        // kFile
  std::uint64_t for_ns = 0;  // kFile; 0: until a signal
  bool has_nics = true;
  bool has_gpus = true;
  bool has_clock = true;
  PortRange clock_ports;
  std::string clock_interface;  // "": chosen
  std::string clock_meet;       // kProbe: the folder where nodes meet; "": they do not
  NicSettings nic;
  std::string gpu_probe;   // "": beside this program
  std::optional<int> cpu;  // none: the last that is allowed; -1: any
};

// `arguments` without the program's name. kUsage for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::netsampler

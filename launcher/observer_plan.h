// What of its node is to be observed for a run, and the command line of the program that does it. All tasks of a run
// have the same options, and so the same plan on one node, whichever of them starts the observer. Functions from values
// to values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/launch_plan.h"
#include "launcher/node.h"
#include "launcher/options.h"

namespace jaxprof::launcher {

// True if a task asks for an observer of its node: a traced one wherever ports or GPUs are to be read, or clocks to be
// compared; another one where the ports of all nodes are to be read.
bool wants_observer(const Options& options, const LaunchPlan& plan, bool is_traced);

// What a run is without if it has no observer: "network ports and GPUs are not recorded".
std::string words_without_observer(const Options& options, const LaunchPlan& plan);

// "compared with other nodes', UDP ports 40000-40099": what becomes of clocks in the run.
std::string clock_words(const Options& options, const LaunchPlan& plan);

// What -t asks for, less what --nic-nodes takes away again: who reads the records must not miss what nobody wanted.
std::uint32_t recorded_kinds(const Options& options);

// What an observer is started with. Whether it asks the GPUs it finds out for itself: it does once a traced task is
// registered in `node_folder`.
std::vector<std::string> observer_command(const std::string& program, const Options& options, const Node& node,
                                          const LaunchPlan& plan, const std::string& node_folder);

// `environment` ("NAME=VALUE" each) without what would make the observer's own child load libraries of the job's.
std::vector<std::string> observer_environment(std::vector<std::string> environment);

}  // namespace jaxprof::launcher

#include "launcher/observer_plan.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "agent/contract/trace_kinds.h"

namespace jaxprof::launcher {
namespace {

constexpr std::string_view kLoaderVariables[] = {"LD_PRELOAD=", "LD_AUDIT="};

bool reads_ports(const Options& options) {
  return (recorded_kinds(options) & kTraceNic) != 0;
}

bool reads_gpus(const Options& options) {
  return (recorded_kinds(options) & kTraceGpu) != 0;
}

// A run in which nothing is recorded has no times to align.
bool compares_clocks(const Options& options, const LaunchPlan& plan) {
  return options.observer.has_clock && !plan.is_single_node && recorded_kinds(options) != 0;
}

// The observer works in another folder.
std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).string();
}

}  // namespace

std::uint32_t recorded_kinds(const Options& options) {
  const bool has_no_ports = options.observer.nic_nodes == NicNodes::kNone;
  return options.recording.trace & ~(has_no_ports ? std::uint32_t{kTraceNic} : 0U);
}

bool wants_observer(const Options& options, const LaunchPlan& plan, bool is_traced) {
  if (is_traced) return reads_ports(options) || reads_gpus(options) || compares_clocks(options, plan);
  return reads_ports(options) && options.observer.nic_nodes == NicNodes::kAll;
}

std::string words_without_observer(const Options& options, const LaunchPlan& plan) {
  if (!reads_ports(options) && !reads_gpus(options)) return "nodes' clocks are not compared";
  return std::string("network ports and GPUs are not recorded") +
         (compares_clocks(options, plan) ? ", nodes' clocks not compared" : "");
}

std::string clock_words(const Options& options, const LaunchPlan& plan) {
  if (!options.observer.has_clock) return "not read: nodes are aligned by their wall clocks (--clock off)";
  if (plan.is_single_node) return "of one node";
  if (!compares_clocks(options, plan)) return "not compared: nothing is recorded";
  const std::string& ports = options.observer.clock_ports;
  return "compared with other nodes', " + (ports.empty() ? "any UDP port" : "UDP ports " + ports);
}

std::vector<std::string> observer_command(const std::string& program, const Options& options, const Node& node,
                                          const LaunchPlan& plan, const std::string& node_folder) {
  std::vector<std::string> command = {program,
                                      "--run-state=" + absolute_path(plan.state_directory),
                                      "--node-folder=" + absolute_path(node_folder),
                                      std::string("--run=") + plan.run.run_id,
                                      std::string("--job=") + plan.run.job_id,
                                      "--host=" + node.host,
                                      "--boot-id=" + node.boot_id};
  if (!reads_ports(options)) command.push_back("--no-nic");
  if (!reads_gpus(options)) command.push_back("--no-gpu");
  const ObserverOptions& observer = options.observer;
  if (reads_ports(options) && observer.nic_hz > 0) command.push_back("--nic-hz=" + std::to_string(observer.nic_hz));
  if (reads_ports(options) && !observer.nic_source.empty()) command.push_back("--nic-source=" + observer.nic_source);
  const bool has_clock = compares_clocks(options, plan);
  if (!has_clock) command.push_back("--clock=off");
  if (has_clock && !observer.clock_ports.empty()) command.push_back("--clock-port=" + observer.clock_ports);
  return command;
}

std::vector<std::string> observer_environment(std::vector<std::string> environment) {
  std::erase_if(environment, [](const std::string& entry) {
    return std::any_of(std::begin(kLoaderVariables), std::end(kLoaderVariables),
                       [&entry](std::string_view name) { return entry.starts_with(name); });
  });
  return environment;
}

}  // namespace jaxprof::launcher

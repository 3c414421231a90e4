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

bool wants_observer(const Options& options, bool is_traced) {
  if (is_traced) return reads_ports(options) || reads_gpus(options);
  return reads_ports(options) && options.observer.nic_nodes == NicNodes::kAll;
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

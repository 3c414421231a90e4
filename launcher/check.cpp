#include "launcher/check.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "launcher/agent_library.h"
#include "launcher/announcement.h"
#include "launcher/child_environment.h"
#include "launcher/observer_plan.h"
#include "launcher/recorded_environment.h"
#include "launcher/sampler_program.h"
#include "launcher/spool_place.h"
#include "launcher/task.h"

namespace jaxprof::launcher {
namespace {

constexpr int kNodeNotReady = exit_status(ErrorCode::kNodeNotReady);
constexpr std::int64_t kWaitNs = 10'000'000'000;
constexpr std::int64_t kPollNs = 20'000'000;

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool is_found_by_exec(const std::string& program, const Env& env) {
  if (program.find('/') != std::string::npos) return is_executable_file(program);
  const char* path = env.get("PATH");
  std::string folders = path != nullptr ? path : "/bin:/usr/bin";
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string folder = end > at ? folders.substr(at, end - at) : ".";
    if (is_executable_file(folder + "/" + program)) return true;
    at = end + 1;
  }
  return false;
}

class Check {
 public:
  Check(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env)
      : options_(options), node_(node), plan_(plan), env_(env) {}

  RankFindings run() {
    result_.rank = plan_.rank.rank;
    result_.host = node_.host;
    if (!options_.command.empty() && !is_found_by_exec(options_.command.front(), env_)) {
      fault(options_.command.front() + " is not a program that can be executed");
    }
    // The directory first and for all ranks: the report is written there.
    result_.has_made_directory = !exists(plan_.directory);
    const Status directory = make_run_directory(plan_);
    if (!plan_.is_wrapped) return result_;
    if (!directory) fault(directory.error().message);
    check_names();
    if (const std::string opening = describe_opening(options_.recording.window); !opening.empty()) remark(opening);
    check_hooks();
    check_variables();
    const auto agent = find_agent_library(own_program_path(), env_);
    if (!agent) fault(agent.error().message);
    check_observer();
    check_spool_place();
    return result_;
  }

 private:
  void fault(std::string text) { result_.findings.push_back({true, std::move(text)}); }
  void remark(std::string text) { result_.findings.push_back({false, std::move(text)}); }

  void check_names() {
    if (!plan_.rank_fault.empty()) result_.findings.push_back({options_.is_strict, plan_.rank_fault});
    if (!plan_.rank.is_known()) remark("no launcher that numbers ranks was found: files are named after host and pid");
    if (!plan_.fault.empty()) fault(plan_.fault);
    if (!plan_.unset_variable.empty()) {
      remark(plan_.unset_variable + " is not set or empty: it becomes unset-" + plan_.unset_variable);
    }
    if (plan_.is_nameless) remark("the name of a file comes out empty, \".\" or \"..\": it is the rank's instead");
    if (!plan_.undecided.empty()) remark("the selection depends on " + plan_.undecided);
    if (!plan_.stem.empty() && (exists(run_layout::spool_path(plan_.directory, plan_.stem)) ||
                                exists(run_layout::part_spool_path(plan_.directory, plan_.stem)))) {
      remark(options_.can_replace_files
                 ? "the rank's file exists; it is replaced if its run has ended"
                 : "the rank's file exists; the new one gets .HOST.PID behind its name (-f replaces it)");
    }
  }

  void check_hooks() {
    const std::vector<std::string> environment = job_environment(options_.environment);
    if (const std::string around = find_profiler_around(environment); !around.empty()) {
      remark("started by " + around + ": where it profiles the same processes, kernels are not recorded");
    }
    for (const ForeignHook& hook : find_foreign_hooks(environment, hooks_of(options_.recording))) {
      if (options_.on_conflict == OnConflict::kKeep) {
        fault(describe(hook) + " is set; --on-conflict replace takes its place");
      } else {
        remark(describe(hook) + " is replaced");
      }
    }
  }

  // The names of all only for those who say which they want; --dry-run has them with their values.
  void check_variables() {
    if (!options_.records_environment) return;
    const RecordedEnvironment recorded =
        record_environment(job_environment(options_.environment), options_.environment_patterns);
    for (const std::string& name : recorded.withheld) {
      remark("the variable " + name + " is not recorded: its name looks like a secret's");
    }
    if (recorded.n_dropped > 0) {
      remark(fmt::format("{} variables are not recorded: there is room for {} bytes of them", recorded.n_dropped,
                         kMaxRecordedBytes));
    }
    if (options_.environment_patterns.empty()) return;
    std::string names;
    for (const auto& [name, value] : recorded.variables) names += (names.empty() ? "" : ", ") + name;
    remark("variables that are recorded: " + (names.empty() ? "none" : names));
  }

  void check_observer() {
    if (!wants_observer(options_, plan_, true)) return;
    const auto sampler = find_sampler(own_program_path(), env_);
    if (!sampler) return fault(words_without_observer(options_, plan_) + ": " + sampler.error().message);
    const ObserverOptions& observer = options_.observer;
    if (!observer.has_clock || !observer.clock_ports.empty()) remark("clocks: " + clock_words(options_, plan_));
  }

  void check_spool_place() {
    const auto place = find_spool_place(options_.spool_base, env_);
    if (!place) return fault(place.error().message);
    for (const std::string& note : place->notes) remark(note);
    if (const auto folder = make_spool_directory(place->base, node_, plan_); folder) {
      rmdir(folder->c_str());
      remark("records to " + describe(*place, place->spool_limit_bytes(options_.spool_limit_bytes)));
    } else {
      fault("no spool folder can be made in " + place->base + ": " + std::strerror(errno));  // without the rank's name
    }
  }

  const Options& options_;
  const Node& node_;
  const LaunchPlan& plan_;
  const Env& env_;
  RankFindings result_;
};

std::vector<std::string> record_names(const std::string& state_directory) {
  std::vector<std::string> names = list_directory(state_directory);
  std::erase_if(names, [](const std::string& name) {
    return !name.starts_with(run_layout::kCheckPrefix) || name.find(".tmp.") != std::string::npos;
  });
  return names;
}

// The reports of all ranks, as far as they come in time, `own` among them.
std::vector<RankFindings> gather(const LaunchPlan& plan, RankFindings own) {
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kWaitNs;
  const auto wanted = static_cast<std::size_t>(std::max(plan.rank.world_size, 1)) - 1;
  std::vector<std::string> names;
  // Without the folder there is no way for a report to arrive.
  while (exists(plan.state_directory) && (names = record_names(plan.state_directory)).size() < wanted &&
         clock_ns(CLOCK_MONOTONIC) < end_ns) {
    const timespec pause{0, kPollNs};
    nanosleep(&pause, nullptr);
  }
  std::vector<RankFindings> all{std::move(own)};
  for (const std::string& name : names) {
    const std::string path = plan.state_directory + "/" + name;
    if (const auto text = read_small_file(path)) {
      if (auto findings = parse_findings(*text)) all.push_back(std::move(*findings));
    }
    unlink(path.c_str());
  }
  return all;
}

void remove_empty_folders(const LaunchPlan& plan, const std::vector<RankFindings>& all) {
  rmdir(plan.state_directory.c_str());
  const bool is_ours = std::any_of(all.begin(), all.end(), [](const RankFindings& f) { return f.has_made_directory; });
  if (is_ours) rmdir(plan.directory.c_str());
}

bool has_fault(const RankFindings& findings) {
  return std::any_of(findings.findings.begin(), findings.findings.end(), [](const Finding& f) { return f.is_fault; });
}

}  // namespace

RankFindings find_faults(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env) {
  return Check(options, node, plan, env).run();
}

int run_check(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env) {
  RankFindings own = find_faults(options, node, plan, env);
  if (!plan.is_speaker()) {
    // Where this fails, rank 0 names the rank as one that did not report.
    const auto written = write_atomic_file(run_layout::check_record_path(plan.state_directory, plan.task), to_text(own),
                                           Publish::kReplace);
    return has_fault(own) || !written ? kNodeNotReady : 0;
  }
  const std::int32_t world_size = plan.rank.is_known() ? plan.rank.world_size : -1;
  const std::vector<RankFindings> all = gather(plan, std::move(own));
  const std::string table = make_table(all, world_size, plan.directory);
  if (write(STDOUT_FILENO, table.data(), table.size()) < 0) return exit_status(ErrorCode::kOutputFailed);
  remove_empty_folders(plan, all);
  const bool is_ready = std::none_of(all.begin(), all.end(), has_fault) &&
                        (world_size <= 0 || all.size() >= static_cast<std::size_t>(world_size));
  return is_ready ? 0 : kNodeNotReady;
}

}  // namespace jaxprof::launcher

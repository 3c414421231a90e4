#include "launcher/dry_run.h"

#include <fmt/format.h>

#include "agent/contract/run_layout.h"
#include "launcher/agent_library.h"
#include "launcher/announcement.h"
#include "launcher/child_environment.h"
#include "launcher/observer_plan.h"
#include "launcher/option_words.h"
#include "launcher/recorded_environment.h"
#include "launcher/sampler_program.h"
#include "launcher/spool_place.h"

namespace jaxprof::launcher {
namespace {

std::string number_or_unknown(std::int32_t number) {
  return number < 0 ? "unknown" : std::to_string(number);
}

std::string describe_rank(const RankIdentity& rank) {
  if (!rank.is_known()) return "unknown";
  return fmt::format("{} of {} (by {}, {}), local rank {}, node {}", rank.rank, number_or_unknown(rank.world_size),
                     launcher_name(rank.launcher), rank.rank_variable, number_or_unknown(rank.local_rank),
                     number_or_unknown(rank.node_index));
}

std::string describe_decision(const Options& options, const LaunchPlan& plan) {
  if (!plan.is_wrapped) return "not selected: the command is executed in place";
  if (!plan.undecided.empty()) return "each process decides: it depends on " + plan.undecided;
  if (options.has_inner_ranks) return "each process decides: the command starts ranks of its own";
  return "traced";
}

}  // namespace

std::string describe_dry_run(const Options& options, const Node& node, const LaunchPlan& plan, const Env& env) {
  std::string text;
  const auto add = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, value);
  };
  add("run", plan.run.run_id);
  add("rank", describe_rank(plan.rank));
  add("decision", describe_decision(options, plan));
  add("command", quote_words(options.command));
  if (!plan.is_wrapped) return text;
  add("directory", plan.directory);
  add("file", plan.stem.empty() ? plan.stem_template + run_layout::kSpoolSuffix + " (named by each process)"
                                : plan.stem + run_layout::kSpoolSuffix);
  if (!plan.unset_variable.empty()) add("unset", plan.unset_variable);
  if (!plan.fault.empty()) add("fault", plan.fault);
  const auto place = find_spool_place(options.spool_base, env);
  const std::string spool =
      run_layout::task_spool_directory(place ? place->base : "none", node.uid, plan.run.run_id, plan.task, node.pid);
  add("spool", place ? spool : "none: " + place.error().message);
  if (place) add("spool disk", describe(*place, place->spool_limit_bytes(options.spool_limit_bytes)));
  const Recording& recording = options.recording;
  add("recorded", trace_words(recording.trace) + (recording.cupti == CuptiPolicy::kOff ? " (without CUPTI)" : ""));
  add("window", is_always_open(recording.window)
                    ? "open from the first call to the end"
                    : describe_opening(recording.window) + " (" + window_words(recording.window) + ")");
  const std::vector<std::string> before = own_environment();
  const Hooks hooks = hooks_of(recording);
  const std::vector<std::string> given = job_environment(options.environment);
  if (const std::string around = find_profiler_around(given); !around.empty()) add("profiler", "started by " + around);
  for (const ForeignHook& hook : find_foreign_hooks(given, hooks)) {
    add("conflict", describe(hook) +
                        (options.on_conflict == OnConflict::kKeep ? ": kept, the rank runs unprofiled" : ": replaced"));
  }
  const auto agent = find_agent_library(own_program_path(), env);
  add("agent", agent ? *agent : "missing: " + agent.error().message);
  if (wants_observer(options, plan, true)) {
    const auto sampler = find_sampler(own_program_path(), env);
    add("observer", sampler ? *sampler : "missing: " + sampler.error().message);
    add("clocks", clock_words(options, plan));
  }
  const std::string agent_path = agent ? *agent : std::string(kAgentFileName);
  const auto after = child_environment(given, agent_path, run_layout::session_path(spool), hooks);
  for (const std::string& line : environment_difference(before, after)) add("environment", line);
  if (options.records_environment) {
    const RecordedEnvironment recorded = record_environment(after, options.environment_patterns);
    for (const auto& [name, value] : recorded.variables) add("variable", name + "=" + value);
    for (const std::string& name : recorded.withheld) add("withheld", name + ": its name looks like a secret's");
    if (recorded.n_dropped > 0) add("left out", fmt::format("{} variables, for want of room", recorded.n_dropped));
  } else {
    add("variables", "none are recorded (--env off)");
  }
  add("first line", first_line(options, plan, env));
  return text;
}

}  // namespace jaxprof::launcher

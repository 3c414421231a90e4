#include "launcher/launch_plan.h"

#include "agent/base/text.h"
#include "agent/contract/condition.h"
#include "agent/contract/run_layout.h"
#include "launcher/rank_fault.h"
#include "launcher/single_node.h"
#include "launcher/unmatched_numbers.h"

namespace jaxprof::launcher {
namespace {

struct Expansion {
  std::string text;
  TemplateReport report;
};

Expansion expand_directory(const std::string& text, const TemplateValues& values, const Env& env) {
  char buffer[kPathBytes];
  TextBuffer out(buffer, sizeof buffer);
  const TemplateReport report = expand_template(text.c_str(), text.size(), false, values, env, &out);
  return {out.c_str(), report};
}

Expansion expand_name(const std::string& text, const TemplateValues& values, const Env& env) {
  char stem[kStemBytes];
  const TemplateReport report = expand_stem(text.c_str(), values, env, stem);
  return {stem, report};
}

std::string without_slash_at_end(std::string directory) {
  while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
  return directory.empty() ? "." : directory;
}

// What is left for processes that have ranks of their own: the wrapper has answered for the nodes, and for a condition
// that does not depend on a rank.
RankSelection residual_of_inner(const RankSelection& selection, const RankIdentity& task, const Env& env) {
  RankSelection residual = selection;
  if (task.node_index >= 0) residual.nodes[0] = '\0';
  RankIdentity node_only;
  node_only.node_index = task.node_index;
  if (selection.condition[0] != '\0' &&
      evaluate_condition(selection.condition, node_only, env).value == ConditionValue::kTrue) {
    residual.condition[0] = '\0';
  }
  return residual;
}

void decide(const Options& options, const Env& env, LaunchPlan* plan) {
  const RankSelection& selection = options.selection;
  const SelectionResult result =
      options.has_inner_ranks ? is_task_selected(selection, plan->rank, env) : is_selected(selection, plan->rank, env);
  plan->is_wrapped = result.selected != Selected::kNo;
  if (result.selected == Selected::kUnknown) plan->undecided = result.unknown;
  // Any command may turn out to start ranks: a launcher hides in a script.
  plan->is_task_taken = result.selected == Selected::kYes && !options.has_inner_ranks;
  plan->residual = residual_of_inner(selection, plan->rank, env);
}

void name_output(const Options& options, const Node& node, const Env& env, LaunchPlan* plan) {
  const std::string& text = options.output;
  const std::size_t stem_begin = stem_offset(text.c_str());
  TemplateValues values{plan->rank, &plan->run, node.host.c_str(), node.pid};
  const Expansion directory = expand_directory(text.substr(0, stem_begin), values, env);
  plan->directory = without_slash_at_end(directory.text);
  plan->state_directory = run_layout::run_state_directory(plan->directory, plan->run.run_id);
  plan->stem_template = text.substr(stem_begin);
  const Expansion stem = expand_name(plan->stem_template, values, env);
  plan->is_nameless = stem.report.is_no_name && !options.has_inner_ranks;
  ++values.rank.rank;
  plan->is_named_by_rank = expand_name(plan->stem_template, values, env).text != stem.text;
  values.rank = plan->rank;
  // The job's process has another pid: a name that depends on it is its own to make.
  values.pid = node.pid + 1;
  const bool is_of_process = expand_name(plan->stem_template, values, env).text != stem.text;
  if (!options.has_inner_ranks && !is_of_process) plan->stem = stem.text;
  for (const Expansion* part : {&directory, &stem}) {
    if (plan->unset_variable.empty()) plan->unset_variable = part->report.unset_variable;
    if (part->report.fault != TemplateFault::kNone && plan->fault.empty()) {
      plan->fault = "--output " + text + ": " + describe(part->report.fault);
    }
  }
}

}  // namespace

LaunchPlan make_launch_plan(const Options& options, const Node& node, const Env& env) {
  LaunchPlan plan;
  plan.rank_variables = options.rank_variables;
  plan.has_inner_ranks = options.has_inner_ranks;
  plan.rank = resolve_rank(env, node.pid, options.rank_variables);
  plan.run = resolve_run(env, plan.rank, {node.host.c_str(), node.pid, node.start_ticks, node.mpiexec.c_str()});
  plan.task = run_layout::task_name(plan.rank.rank, node.host, node.pid);
  plan.is_single_node = is_known_single_node(plan.rank, env);
  plan.rank_fault = find_rank_fault(options, plan.rank, env);
  plan.unmatched_numbers = describe_unmatched_numbers(options, plan.rank, env);
  decide(options, env, &plan);
  name_output(options, node, env, &plan);
  return plan;
}

}  // namespace jaxprof::launcher

#include "merge/study/env.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/study/env_variables.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kValuesShown = 8;
constexpr std::size_t kValueCharacters = 100;
constexpr std::size_t kRanksCharacters = 60;
constexpr std::size_t kNamesShown = 8;

std::string name_of(const RunTables& run, const EnvVariable& variable) {
  return std::string(run.strings.text(run.env.name[variable.first]));
}

const char* difference_words(const EnvVariable& variable) {
  if (variable.scope == EnvScope::kAlike) return "no";
  if (variable.is_per_task) return "set by launcher";
  switch (variable.scope) {
    case EnvScope::kLocalRank:
      return "by local rank";
    case EnvScope::kNode:
      return "by node";
    case EnvScope::kTask:
      return "by task";
    case EnvScope::kAlike:
    case EnvScope::kMissing:
      break;
  }
  return "unknown";
}

// Where it stands: drift, then what differs by local rank, then the rest.
int order_of(const EnvVariable& variable) {
  if (variable.is_drift()) return 0;
  return variable.scope == EnvScope::kLocalRank && !variable.is_per_task ? 1 : 2;
}

void add_variable(const RunTables& run, const EnvVariable& variable, bool is_in_full, Table* table) {
  const std::string name = name_of(run, variable);
  const auto cut = [is_in_full](std::string_view text, std::size_t n) {
    return is_in_full ? std::string(text) : shortened(text, n);
  };
  const std::size_t shown = is_in_full ? variable.n_values : std::min(variable.n_values, kValuesShown);
  for (std::size_t row = variable.first; row < variable.first + shown; ++row) {
    table->rows.push_back({name, static_cast<std::int64_t>(run.env.n_tasks[row]),
                           static_cast<std::int64_t>(run.env.is_set[row]), std::string(difference_words(variable)),
                           cut(run.strings.text(run.env.ranks[row]), kRanksCharacters),
                           cut(value_words(run, row), kValueCharacters)});
  }
  if (shown == variable.n_values) return;
  std::int64_t n_tasks = 0;
  for (std::size_t row = variable.first + shown; row < variable.first + variable.n_values; ++row) {
    n_tasks += run.env.n_tasks[row];
  }
  table->rows.push_back({name, n_tasks, Missing{}, std::string(difference_words(variable)), Missing{},
                         fmt::format("({} more values: --all)", variable.n_values - shown)});
}

std::string verdict_of(const RunTables& run, const std::vector<EnvVariable>& variables) {
  std::string names;
  std::size_t n_drift = 0;
  for (const EnvVariable& variable : variables) {
    if (!variable.is_drift()) continue;
    if (++n_drift <= kNamesShown) names += (names.empty() ? "" : ", ") + name_of(run, variable);
  }
  const std::size_t n_tasks = n_tasks_with_environment(run);
  if (n_drift == 0) {
    return fmt::format("no differences: {} variables of {} tasks are alike, or differ as launchers set them",
                       variables.size(), n_tasks);
  }
  if (n_drift > kNamesShown) names += fmt::format(" and {} more", n_drift - kNamesShown);
  return fmt::format("{} of {} variables {} between ranks that should be alike: {}", n_drift, variables.size(),
                     n_drift == 1 ? "differs" : "differ", names);
}

}  // namespace

bool env_wants(std::string_view path) {
  return path == "/job/env";
}

Table env(const RunTables& run, const StudyOptions& options) {
  Table table;
  table.study = kEnv.name;
  table.columns = {{"variable", "variable"}, {"tasks", "tasks"}, {"is_set", "set", Unit::kNone, true},
                   {"differs", "differs"},   {"ranks", "ranks"}, {"value", "value"}};
  std::vector<EnvVariable> variables = env_variables(run);
  if (variables.empty()) {
    table.verdict = "nothing is known of the tasks' environment";
    table.empty_reason = "no variable was recorded: --env off, none set, or an older jaxprof";
    return table;
  }
  table.verdict = verdict_of(run, variables);
  std::stable_sort(variables.begin(), variables.end(),
                   [](const EnvVariable& a, const EnvVariable& b) { return order_of(a) < order_of(b); });
  const bool is_in_full = options.lists_all || options.is_for_programs;
  for (const EnvVariable& variable : variables) add_variable(run, variable, is_in_full, &table);
  table.notes.emplace_back("definitions: jaxprof-study env --explain");
  return table;
}

}  // namespace jaxprof::study

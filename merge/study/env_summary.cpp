#include "merge/study/env_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/study/env_variables.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kVariablesShown = 20;
constexpr std::size_t kValuesShown = 4;
constexpr std::size_t kValueCharacters = 60;
constexpr std::size_t kRanksCharacters = 40;

// "Ring on ranks 0-2; (not set) on rank 3"; most ranks first.
std::string who_has_what(const RunTables& run, const EnvVariable& variable) {
  std::string text;
  const std::size_t shown = std::min(variable.n_values, kValuesShown);
  for (std::size_t row = variable.first; row < variable.first + shown; ++row) {
    text += fmt::format("{}{} on {}", text.empty() ? "" : "; ", shortened(value_words(run, row), kValueCharacters),
                        shortened(run.strings.text(run.env.ranks[row]), kRanksCharacters));
  }
  if (shown < variable.n_values) text += fmt::format("; and {} more", variable.n_values - shown);
  return text;
}

}  // namespace

void add_environment(Sections& out, const RunTables& run) {
  out.begin("environment");
  const std::vector<EnvVariable> variables = env_variables(run);
  if (variables.empty()) {
    out.count("variables", 0, "none were recorded: --env off, none set, or an older jaxprof");
    return;
  }
  const auto n_drift = std::count_if(variables.begin(), variables.end(), [](const auto& v) { return v.is_drift(); });
  out.count("variables", static_cast<std::int64_t>(variables.size()),
            fmt::format("of {} tasks; jaxprof-study env lists them", n_tasks_with_environment(run)));
  out.count("differ, though ranks should be alike", n_drift);
  std::size_t n_shown = 0;
  for (const EnvVariable& variable : variables) {
    if (!variable.is_drift() || n_shown++ >= kVariablesShown) continue;
    out.count(std::string(run.strings.text(run.env.name[variable.first])), static_cast<std::int64_t>(variable.n_values),
              who_has_what(run, variable));
  }
  if (n_shown > kVariablesShown) {
    out.count("further ones", static_cast<std::int64_t>(n_shown - kVariablesShown), "jaxprof-study env lists them");
  }
}

}  // namespace jaxprof::study

// Folds the rows of one name.
#include "merge/study/env_variables.h"

namespace jaxprof::study {

using namespace jaxprof::runfile;

std::vector<EnvVariable> env_variables(const RunTables& run) {
  std::vector<EnvVariable> variables;
  for (std::size_t row = 0; row < run.env.name.size(); ++row) {
    if (row > 0 && run.env.name[row] == run.env.name[row - 1]) {
      ++variables.back().n_values;
    } else {
      variables.push_back({row, 1, run.env.scope[row], run.env.is_per_task[row] == 1});
    }
  }
  return variables;
}

std::size_t n_tasks_with_environment(const RunTables& run) {
  // The rows of one variable divide all tasks.
  std::size_t n = 0;
  for (std::size_t row = 0; row < run.env.name.size() && run.env.name[row] == run.env.name[0]; ++row) {
    n += run.env.n_tasks[row];
  }
  return n;
}

std::string value_words(const RunTables& run, std::size_t row) {
  if (run.env.is_set[row] != 1) return "(not set)";
  if (run.attributes.redacted == 1) return "(left out)";
  const std::string_view value = run.strings.text(run.env.value[row]);
  return value.empty() ? "(empty)" : std::string(value);
}

std::string shortened(std::string_view text, std::size_t n) {
  if (text.size() <= n) return std::string(text);
  std::size_t end = n;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a character
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace jaxprof::study

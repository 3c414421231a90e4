// The rows of /job/env as variables, for all who ask whether ranks ran alike.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study {

// Rows [first, first + n_values) of /job/env: the values of one variable, "not set" among them.
struct EnvVariable {
  std::size_t first = 0;
  std::size_t n_values = 0;
  runfile::EnvScope scope = runfile::EnvScope::kMissing;
  bool is_per_task = false;

  // Ranks or nodes differ that should be alike.
  bool is_drift() const {
    return !is_per_task && (scope == runfile::EnvScope::kNode || scope == runfile::EnvScope::kTask);
  }
};

// By name. Empty if no environment was recorded.
std::vector<EnvVariable> env_variables(const runfile::RunTables& run);

// Tasks whose environment was recorded with any variable in it.
std::size_t n_tasks_with_environment(const runfile::RunTables& run);

// The value of a row for people: "(not set)", "(empty)", "(left out)" of a redacted file, else the value.
std::string value_words(const runfile::RunTables& run, std::size_t row);

// `text`, cut to some `n` characters with "…" behind them.
std::string shortened(std::string_view text, std::size_t n);

}  // namespace jaxprof::study

// The different ways in which kernels were launched, each once. A process has its own numbers for them; equal ones of
// all processes are one row of /launch_configs.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "agent/spool/state_record.h"
#include "merge/runfile/gpu_tables.h"

namespace jaxprof::assembly {

class LaunchConfigs {
 public:
  // The row of what a process registered, or of row `row` of another table; new if there was none like it.
  std::uint32_t row_of(const spool::LaunchConfigState& state);
  std::uint32_t row_of(const runfile::LaunchConfigTable& table, std::size_t row);

  const runfile::LaunchConfigTable& table() const { return table_; }

 private:
  using Config = std::array<std::uint32_t, 13>;  // in the order of the columns

  std::uint32_t row_of(const Config& config);

  runfile::LaunchConfigTable table_;
  std::map<Config, std::uint32_t> rows_;
};

}  // namespace jaxprof::assembly

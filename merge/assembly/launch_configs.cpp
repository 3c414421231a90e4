#include "merge/assembly/launch_configs.h"

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {

std::uint32_t LaunchConfigs::row_of(const spool::LaunchConfigState& state) {
  return row_of(Config{state.grid[0], state.grid[1], state.grid[2], state.block[0], state.block[1], state.block[2],
                       state.cluster[0], state.cluster[1], state.cluster[2], state.registers, state.static_shared_bytes,
                       state.dynamic_shared_bytes, state.local_bytes});
}

std::uint32_t LaunchConfigs::row_of(const runfile::LaunchConfigTable& table, std::size_t row) {
  Config config{};
  std::size_t i = 0;
  runfile::for_each_column(table, [&](const auto&, const auto& column) { config[i++] = column[row]; });
  return row_of(config);
}

std::uint32_t LaunchConfigs::row_of(const Config& config) {
  const auto [known, is_new] = rows_.try_emplace(config, static_cast<std::uint32_t>(rows_.size()));
  if (is_new) {
    const std::size_t row = runfile::add_row(table_);
    std::size_t i = 0;
    runfile::for_each_column(table_, [&](const auto&, auto& column) { column[row] = config[i++]; });
  }
  return known->second;
}

}  // namespace jaxprof::assembly

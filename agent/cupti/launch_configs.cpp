#include "agent/cupti/launch_configs.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {

bool LaunchConfigs::open() noexcept {
  return all_.open();
}

// Compared where they lie: to copy the record's first would cost more than the comparison.
bool LaunchConfigs::has_config(const Record& record, const Config& config) noexcept {
  using namespace kernel_record;
  static_assert(kFirstBytes == offsetof(Config, cluster));
  static_assert(kCluster[2].offset + 4 - kCluster[0].offset == sizeof Config::cluster);
  if (!record.has(kCluster[2])) return false;
  return are_same_words<kFirstBytes>(record.at + kGrid[0].offset, &config) &&
         are_same_words<sizeof config.cluster>(record.at + kCluster[0].offset, config.cluster) &&
         record.get(kRegisters) == config.registers;
}

LaunchConfigs::Config LaunchConfigs::config_of(const Record& record) noexcept {
  using namespace kernel_record;
  Config config{};
  if (record.has(kLocalPerThread)) std::memcpy(&config, record.at + kGrid[0].offset, kFirstBytes);
  if (record.has(kCluster[2])) std::memcpy(config.cluster, record.at + kCluster[0].offset, sizeof config.cluster);
  config.registers = record.get(kRegisters);
  return config;
}

std::uint32_t LaunchConfigs::number_of(const Record& record) noexcept {
  const auto name = reinterpret_cast<std::uintptr_t>(record.get(kernel_record::kName));
  Recent& recent = recent_[(name * 0x9e3779b97f4a7c15U >> 48) % kRecent];
  if (recent.number != 0 && has_config(record, recent.config)) [[likely]]
    return recent.number;
  const Config config = config_of(record);
  recent = {config, look(config)};
  return recent.number;
}

std::uint32_t LaunchConfigs::look(const Config& config) noexcept {
  bool is_new = false;
  const std::uint32_t number = all_.number_of(config, &is_new);
  if (number == 0) collect::count_drop(Drop::kStateLogFull);
  if (!is_new) [[likely]]
    return number;
  spool::LaunchConfigState state{};
  state.config = number;
  std::memcpy(state.grid, config.grid, sizeof state.grid);
  std::memcpy(state.block, config.block, sizeof state.block);
  std::memcpy(state.cluster, config.cluster, sizeof state.cluster);
  state.registers = config.registers;
  state.static_shared_bytes = config.static_shared;
  state.dynamic_shared_bytes = config.dynamic_shared;
  state.local_bytes = config.local;
  collect::append_state(spool::StateKind::kLaunchConfig, &state, sizeof state);
  return number;
}

}  // namespace jaxprof::cupti

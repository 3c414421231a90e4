#include "agent/cupti/launch_configs.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {

bool LaunchConfigs::open() noexcept {
  return all_.open();
}

LaunchConfigs::Config LaunchConfigs::config_of(const Record& record) noexcept {
  using namespace kernel_record;
  Config config{};
  if (record.has(kLocalPerThread)) std::memcpy(&config, record.at + kGrid[0].offset, kFirstBytes);
  if (record.has(kCluster[2])) std::memcpy(config.cluster, record.at + kCluster[0].offset, sizeof config.cluster);
  config.registers = record.get(kRegisters);
  return config;
}

spool::MadeVarint LaunchConfigs::renew(Recent* recent, Record record) noexcept {
  const Config config = config_of(record);
  const std::uint32_t number = look(config);
  *recent = {config, number != 0 ? config.registers + 1 : 0, spool::MadeVarint(number)};
  return recent->number;
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

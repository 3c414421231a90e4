#include "merge/assembly/device_rows.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <tuple>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using Uuid = std::array<std::uint8_t, 16>;

Uuid uuid_of(const spool::GpuDeviceState& state) {
  Uuid uuid{};
  std::copy(std::begin(state.uuid), std::end(state.uuid), uuid.begin());
  return uuid;
}

// As nvidia-smi writes it.
std::string uuid_text(const Uuid& uuid) {
  std::string text = "GPU";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    const bool is_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    char byte[8];
    std::snprintf(byte, sizeof byte, "%s%02x", is_group ? "-" : "", uuid[i]);
    text += byte;
  }
  return text;
}

}  // namespace

void DeviceRows::add(std::uint32_t process, std::int32_t ordinal) {
  if (ordinal >= 0) devices_.try_emplace({process, ordinal});
}

void DeviceRows::add(std::uint32_t process, const rundir::SpoolTrace& trace) {
  const rundir::GpuState& gpu = trace.gpu();
  constexpr auto kMaxOrdinal = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  for (const auto& [ordinal, state] : gpu.devices) {
    if (ordinal > kMaxOrdinal) continue;
    Device& device = devices_[{process, static_cast<std::int32_t>(ordinal)}];
    device.state = state;
    device.name = trace.text(state.name);
  }
  for (const auto& [number, lane] : gpu.lanes) {
    if (lane.device <= kMaxOrdinal) add(process, static_cast<std::int32_t>(lane.device));
  }
}

void DeviceRows::fill(runfile::RunTables* run) {
  runfile::DeviceTable& table = run->devices;
  std::map<std::pair<std::uint32_t, Uuid>, std::int32_t> by_uuid;  // node and uuid
  for (auto& [key, device] : devices_) {
    const auto& [process, ordinal] = key;
    const std::uint32_t node = run->processes.node[process];
    const Uuid uuid = uuid_of(device.state);
    const bool has_uuid = uuid != Uuid{};
    if (const auto known = by_uuid.find({node, uuid}); has_uuid && known != by_uuid.end()) {
      device.row = known->second;
      const auto row = static_cast<std::size_t>(device.row);
      if (table.process[row] != process) {
        table.process[row] = runfile::kNoIndex;
        table.ordinal[row] = runfile::kNoNumber;
      }
      continue;
    }
    const std::size_t row = runfile::add_row(table);
    device.row = static_cast<std::int32_t>(row);
    table.device[row] = static_cast<std::uint32_t>(row);
    table.node[row] = node;
    table.process[row] = process;
    table.ordinal[row] = ordinal;
    table.name[row] = run->strings.intern(device.name);
    if (has_uuid) {
      by_uuid[{node, uuid}] = device.row;
      table.uuid[row] = uuid_text(uuid);
    }
    if (device.state.capability > 0) table.capability[row] = device.state.capability;
    if (device.state.processors > 0) table.processors[row] = device.state.processors;
    if (device.state.memory_bytes > 0) table.memory_bytes[row] = device.state.memory_bytes;
  }
}

std::int32_t DeviceRows::row(std::uint32_t process, std::int32_t ordinal) const {
  const auto found = devices_.find({process, ordinal});
  return found == devices_.end() ? -1 : found->second.row;
}

}  // namespace jaxprof::assembly

#include "merge/assembly/device_rows.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

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

std::vector<PartDevice> devices_of(const rundir::SpoolTrace& trace, const std::vector<match::ProcessComm>& comms) {
  const rundir::GpuState& gpu = trace.gpu();
  constexpr auto kMaxOrdinal = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  std::map<std::int32_t, PartDevice> devices;
  for (const match::ProcessComm& comm : comms) {
    if (comm.device >= 0) devices.try_emplace(comm.device);
  }
  for (const auto& [ordinal, state] : gpu.devices) {
    if (ordinal > kMaxOrdinal) continue;
    PartDevice& device = devices[static_cast<std::int32_t>(ordinal)];
    device.state = state;
    device.name = trace.text(state.name);
  }
  for (const auto& [number, lane] : gpu.lanes) {
    if (lane.device <= kMaxOrdinal) devices.try_emplace(static_cast<std::int32_t>(lane.device));
  }
  std::vector<PartDevice> all;
  for (auto& [ordinal, device] : devices) {
    device.ordinal = ordinal;
    all.push_back(std::move(device));
  }
  return all;
}

void DeviceRows::add(std::uint32_t process, std::uint32_t node, const std::vector<PartDevice>& devices) {
  for (const PartDevice& device : devices) {
    const Uuid uuid = uuid_of(device.state);
    const auto known = by_uuid_.find({node, uuid});
    if (known == by_uuid_.end() || uuid == Uuid{}) {
      rows_[{process, device.ordinal}] = add_row(process, node, device, uuid);
      continue;
    }
    rows_[{process, device.ordinal}] = known->second;
    const auto row = static_cast<std::size_t>(known->second);
    if (run_->devices.process[row] != process) {
      run_->devices.process[row] = runfile::kNoIndex;
      run_->devices.ordinal[row] = runfile::kNoNumber;
    }
  }
}

std::int32_t DeviceRows::add_row(std::uint32_t process, std::uint32_t node, const PartDevice& device,
                                 const Uuid& uuid) {
  runfile::DeviceTable& table = run_->devices;
  const std::size_t row = runfile::add_row(table);
  table.device[row] = static_cast<std::uint32_t>(row);
  table.node[row] = node;
  table.process[row] = process;
  table.ordinal[row] = device.ordinal;
  table.name[row] = run_->strings.intern(device.name);
  if (uuid != Uuid{}) {
    by_uuid_[{node, uuid}] = static_cast<std::int32_t>(row);
    table.uuid[row] = uuid_text(uuid);
  }
  if (device.state.capability > 0) table.capability[row] = device.state.capability;
  if (device.state.processors > 0) table.processors[row] = device.state.processors;
  if (device.state.memory_bytes > 0) table.memory_bytes[row] = device.state.memory_bytes;
  return static_cast<std::int32_t>(row);
}

std::int32_t DeviceRows::row(std::uint32_t process, std::int32_t ordinal) const {
  const auto found = rows_.find({process, ordinal});
  return found == rows_.end() ? -1 : found->second;
}

}  // namespace jaxprof::assembly

// The GPUs of a run. A process knows a GPU by CUDA's number, which CUDA_VISIBLE_DEVICES changes from process to
// process; where CUPTI told its UUID, the GPUs of one node with one UUID are one row, and else each process has rows of
// its own. Rows are numbered by process and CUDA's number, so that they come out alike in every merge of a run.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "merge/match/comm_members.h"
#include "merge/rundir/spool_trace.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// A GPU that a process named or registered.
struct PartDevice {
  std::int32_t ordinal = -1;      // CUDA's number
  spool::GpuDeviceState state{};  // all 0: not registered
  std::string name;
};

// By ordinal: what the process registered, and what its communicators name.
std::vector<PartDevice> devices_of(const rundir::SpoolTrace& trace, const std::vector<match::ProcessComm>& comms);

class DeviceRows {
 public:
  // Fills run->devices.
  explicit DeviceRows(runfile::RunTables* run) : run_(run) {}

  // Those of process `process`, which ran on node `node`; processes in the order of their numbers.
  void add(std::uint32_t process, std::uint32_t node, const std::vector<PartDevice>& devices);

  // The row of /job/devices; -1 if the process named no such GPU.
  std::int32_t row(std::uint32_t process, std::int32_t ordinal) const;

 private:
  using Uuid = std::array<std::uint8_t, 16>;

  std::int32_t add_row(std::uint32_t process, std::uint32_t node, const PartDevice& device, const Uuid& uuid);

  runfile::RunTables* run_;
  std::map<std::pair<std::uint32_t, Uuid>, std::int32_t> by_uuid_;       // by node and UUID
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int32_t> rows_;  // by process and ordinal
};

}  // namespace jaxprof::assembly

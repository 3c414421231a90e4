// Appends what the GPUs of one process after the other did to the run's tables, and turns the process's own numbers
// into the run's: devices, launch configurations, rows of calls.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "merge/assembly/device_rows.h"
#include "merge/assembly/windows.h"
#include "merge/match/gpu_work.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Where a process's rows begin in the run's tables.
struct GpuBase {
  std::uint64_t kernel = 0;
  std::uint64_t memop = 0;
};

class GpuRows {
 public:
  GpuRows(const DeviceRows& devices, runfile::RunTables* run) : devices_(devices), run_(run) {}

  // Processes in the order of their numbers, each once, also those without any work. Times are absolute.
  GpuBase add(std::uint32_t process, match::GpuWork work, const rundir::GpuState& state);
  // /segments, of the same processes in the same order.
  void add_segments(std::uint32_t process, const std::vector<Segment>& segments);

 private:
  using Config = std::array<std::uint32_t, 13>;

  std::uint32_t config_index(const spool::LaunchConfigState& state);

  const DeviceRows& devices_;
  runfile::RunTables* run_;
  std::map<Config, std::uint32_t> configs_;
};

}  // namespace jaxprof::assembly

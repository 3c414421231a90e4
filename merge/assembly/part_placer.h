// Turns the numbers of one process after the other into the run's: rows stand behind those of the processes before,
// texts, devices and launch configurations become rows of the run's tables, times count from the run's epoch. Numbers
// are given in the order of the processes, so that a run's rows are numbered alike however its parts were made; putting
// them into the rows needs nothing but the placement, and is done where the rows are.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "merge/assembly/device_rows.h"
#include "merge/assembly/launch_configs.h"
#include "merge/assembly/process_part.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Where a process's rows stand in the run.
struct Placement {
  std::int64_t epoch_ns = 0;
  RowCounts first_rows;
  std::vector<runfile::StringId> texts;                        // by the part's string id
  std::vector<std::pair<std::int32_t, std::int32_t>> devices;  // CUDA's ordinal and row of /job/devices
  std::vector<std::uint32_t> configs;                          // by row of the part's configurations
};

// Of /events/nccl `comm` stays what it is, for communicators are numbered when all processes are known. Answers how
// many events had times before the epoch; they stand at it. Any thread.
std::uint64_t place_rows(const Placement& placement, ProcessPart* part);

class PartPlacer {
 public:
  // Fills run->strings, ->devices, ->segments, and the offsets of processes. `epoch_ns` is zero of the run's axis.
  PartPlacer(runfile::RunTables* run, std::int64_t epoch_ns) : run_(run), devices_(run), epoch_ns_(epoch_ns) {}

  // Process `process`, which ran on `node`.
  Placement number(std::uint32_t process, std::uint32_t node, const PartHead& head);

  const DeviceRows& devices() const { return devices_; }
  // After the last one.
  void fill_launch_configs() { run_->launch_configs = configs_.table(); }

 private:
  void add_segments(std::uint32_t process, const std::vector<Segment>& segments);

  runfile::RunTables* run_;
  DeviceRows devices_;
  LaunchConfigs configs_;
  std::int64_t epoch_ns_;
  std::uint64_t n_nccl_work_ = 0;
};

}  // namespace jaxprof::assembly

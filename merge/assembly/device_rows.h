// The GPUs of a run. A process knows a GPU by CUDA's number, which CUDA_VISIBLE_DEVICES changes from process to
// process; where CUPTI told its UUID, the GPUs of one node with one UUID are one row, and else each process has rows of
// its own. Rows are numbered by process and CUDA's number, so that they come out alike in every merge of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "merge/rundir/spool_trace.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class DeviceRows {
 public:
  // A GPU that process `process`, an index of /job/processes, named. Negative ordinals are none.
  void add(std::uint32_t process, std::int32_t ordinal);
  // All that the process registered.
  void add(std::uint32_t process, const rundir::SpoolTrace& trace);

  // Writes /job/devices, once all are added; run->processes is filled.
  void fill(runfile::RunTables* run);

  // After fill(): the row of /job/devices; -1 if the process named no such GPU.
  std::int32_t row(std::uint32_t process, std::int32_t ordinal) const;

 private:
  struct Device {
    std::int32_t row = -1;
    spool::GpuDeviceState state{};  // all 0: not registered
    std::string name;
  };

  std::map<std::pair<std::uint32_t, std::int32_t>, Device> devices_;  // by process and ordinal
};

}  // namespace jaxprof::assembly

#include "merge/study/gpu_sweep.h"

#include <fmt/format.h>

namespace jaxprof::study {

using namespace jaxprof::runfile;

std::vector<std::int32_t> own_devices(const RunTables& run, std::size_t process) {
  std::vector<std::int32_t> devices;
  const GpuMode mode = run.processes.gpu_mode[process];
  if (mode != GpuMode::kShared && mode != GpuMode::kAlone) return devices;
  for (std::size_t device = 0; device < run.devices.process.size(); ++device) {
    if (run.devices.process[device] == process) devices.push_back(static_cast<std::int32_t>(device));
  }
  return devices;
}

std::vector<std::string> notes_of(const SweepCounts& counts) {
  std::vector<std::string> notes;
  if (counts.n_without_time > 0) {
    notes.push_back(fmt::format("left out: {} kernels and copies without a start or a length", counts.n_without_time));
  }
  if (counts.n_outside > 0) {
    notes.push_back(fmt::format("left out: {} kernels and copies outside of windows", counts.n_outside));
  }
  if (counts.n_graphs > 0) {
    notes.push_back(fmt::format("{} CUDA graphs were recorded as a whole and count as compute, whatever was in them",
                                counts.n_graphs));
  }
  return notes;
}

}  // namespace jaxprof::study

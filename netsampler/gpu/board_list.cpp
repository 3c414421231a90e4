#include "netsampler/gpu/board_list.h"

#include <ctime>

#include "agent/base/text.h"
#include "agent/spool/node_record.h"
#include "netsampler/gpu/nvml_library.h"
#include "netsampler/gpu/record_pipe.h"

namespace jaxprof::netsampler {
namespace {

constexpr auto kNoGpu = static_cast<std::uint32_t>(spool::NodeNote::kNoGpu);
constexpr auto kGpuTrouble = static_cast<std::uint32_t>(spool::NodeNote::kGpuTrouble);

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// False without an identity: its samples could never be given to anybody.
bool read_identity(const nvml::Functions& nvml, nvml::Device device, ProbeGpu* gpu) noexcept {
  if (nvml.uuid(device, gpu->uuid, sizeof gpu->uuid) != nvml::kSuccess || gpu->uuid[0] == '\0') return false;
  if (nvml.name == nullptr || nvml.name(device, gpu->name, sizeof gpu->name) != nvml::kSuccess) gpu->name[0] = '\0';
  gpu->stamp = now_ns();
  return true;
}

void read_facts(const nvml::Functions& nvml, nvml::Device device, ProbeGpu* gpu) noexcept {
  nvml::PciInfo pci{};
  if (nvml.pci != nullptr && nvml.pci(device, &pci) == nvml::kSuccess) {
    gpu->has_pci = 1;
    gpu->pci_domain = pci.domain;
    gpu->pci_bus = pci.bus;
    gpu->pci_device = pci.device;
  }
  nvml::Memory memory{};
  if (nvml.memory != nullptr && nvml.memory(device, &memory) == nvml::kSuccess) gpu->memory_bytes = memory.total;
  unsigned number = 0;
  if (nvml.power_limit != nullptr && nvml.power_limit(device, &number) == nvml::kSuccess) gpu->power_limit_mw = number;
  if (nvml.max_clock != nullptr && nvml.max_clock(device, nvml::kClockSm, &number) == nvml::kSuccess) {
    gpu->sm_clock_max_mhz = number;
  }
}

void list_instances(const nvml::Functions& nvml, nvml::Device device, const ProbeGpu& board, BoardList* list) noexcept {
  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.mig_mode == nullptr || nvml.max_mig_devices == nullptr || nvml.mig_device == nullptr) return;
  if (nvml.mig_mode(device, &current, &pending) != nvml::kSuccess || current != nvml::kMigEnabled) return;
  unsigned most = 0;
  if (nvml.max_mig_devices(device, &most) != nvml::kSuccess) return;
  for (unsigned i = 0; i < most && list->numbers_used < kMaxProbeGpus; ++i) {
    nvml::Device handle = nullptr;
    if (nvml.mig_device(device, i, &handle) != nvml::kSuccess) continue;  // places may be empty
    ProbeGpu instance{};
    if (!read_identity(nvml, handle, &instance)) continue;
    nvml::Memory memory{};
    if (nvml.memory != nullptr && nvml.memory(handle, &memory) == nvml::kSuccess) instance.memory_bytes = memory.total;
    instance.gpu = list->numbers_used++;
    instance.parent = board.gpu;
    instance.has_pci = board.has_pci;
    instance.pci_domain = board.pci_domain;
    instance.pci_bus = board.pci_bus;
    instance.pci_device = board.pci_device;
    TextBuffer(instance.driver, sizeof instance.driver).append(board.driver);
    list->is_written = list->is_written && write_gpu(instance);
  }
}

void note_unusable(const nvml::Functions& nvml, unsigned index, nvml::Return result) noexcept {
  char line[200];
  TextBuffer text(line, sizeof line);
  text.append("GPU ");
  text.append_number(index);
  text.append(" of NVML cannot be read: ");
  nvml::append_result(nvml, result, &text);
  write_note(kGpuTrouble, text.c_str());
}

void note_denied(unsigned count, bool is_all) noexcept {
  char line[200];
  TextBuffer text(line, sizeof line);
  text.append(is_all ? "there is no permission to use any GPU of the node; there are "
                     : "GPUs of the node that may not be used from here, and are not sampled: ");
  text.append_number(count);
  write_note(is_all ? kNoGpu : kGpuTrouble, text.c_str());
}

}  // namespace

void list_boards(const nvml::Functions& nvml, BoardList* list) noexcept {
  unsigned count = 0;
  if (const nvml::Return result = nvml.device_count(&count); result != nvml::kSuccess) {
    char line[200];
    TextBuffer text(line, sizeof line);
    text.append("NVML cannot count the GPUs: ");
    nvml::append_result(nvml, result, &text);
    write_note(kNoGpu, text.c_str());
    return;
  }
  if (count == 0) {
    write_note(kNoGpu, "NVML finds no GPU");
    return;
  }
  char driver[80] = "";
  if (nvml.driver_version == nullptr || nvml.driver_version(driver, sizeof driver) != nvml::kSuccess) driver[0] = '\0';
  unsigned denied = 0;
  for (unsigned i = 0; i < count && list->count < kMaxBoards && list->numbers_used < kMaxProbeGpus; ++i) {
    nvml::Device device = nullptr;
    if (const nvml::Return result = nvml.device(i, &device); result == nvml::kNoPermission) {
      ++denied;
      continue;
    } else if (result != nvml::kSuccess) {
      note_unusable(nvml, i, result);
      continue;
    }
    ProbeGpu gpu{};
    if (!read_identity(nvml, device, &gpu)) {
      note_unusable(nvml, i, nvml::kNotFound);
      continue;
    }
    read_facts(nvml, device, &gpu);
    gpu.gpu = list->numbers_used++;
    gpu.parent = kNoProbeGpu;
    TextBuffer(gpu.driver, sizeof gpu.driver).append(driver);
    list->boards[list->count++] = BoardReader(gpu.gpu, device);
    list->is_written = list->is_written && write_gpu(gpu);
    list_instances(nvml, device, gpu, list);
  }
  if (denied > 0) note_denied(denied, list->count == 0);
}

}  // namespace jaxprof::netsampler

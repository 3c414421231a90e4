// The FAKE_CUDA_ switches; fake_cuda.h says what each does.
#pragma once

#include "tests/doubles/cuda/switches.h"

namespace jaxprof::fake_cuda {

enum class Switch {
  kDevices,
  kKernelNs,
  kCopyNs,
  kCopyMbps,
  kLaunchNs,
  kDeliveryUs,
  kDeliveryJitterUs,
  kClockOffsetNs,
  kClockDriftPpb,
  kClockStepNs,
  kClockStepAtMs,
  kPoisonNames,
  kSlotHeld,
};

inline constexpr SwitchDefault kSwitchDefaults[] = {
    {"DEVICES", 1},         {"KERNEL_NS", 5000},  {"COPY_NS", 2000},         {"COPY_MBPS", 20000},
    {"LAUNCH_NS", 2000},    {"DELIVERY_US", 0},   {"DELIVERY_JITTER_US", 0}, {"CLOCK_OFFSET_NS", 0},
    {"CLOCK_DRIFT_PPB", 0}, {"CLOCK_STEP_NS", 0}, {"CLOCK_STEP_AT_MS", 0},   {"POISON_NAMES", 0},
    {"SLOT_HELD", 0},
};

inline auto& switches() {
  static auto* const all = new Switches<Switch, std::size(kSwitchDefaults)>("FAKE_CUDA_", kSwitchDefaults);
  return *all;
}

}  // namespace jaxprof::fake_cuda

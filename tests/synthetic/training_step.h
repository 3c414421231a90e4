// The program of a training step, the same on all ranks and in all steps: units, each of some copies and kernels and
// then a collective, the last of them the gradients'.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/synthetic/kernel_mix.h"
#include "tests/synthetic/units.h"

namespace jaxprof::synthetic {

enum class CopyKind : std::uint8_t { kHostToDevice, kDeviceToDevice };

struct StepCopy {
  CopyKind kind = CopyKind::kHostToDevice;
  std::uint64_t bytes = 0;
  std::int64_t length_ns() const;
};

struct StepUnit {
  std::vector<StepCopy> copies;  // before the kernels
  std::vector<MixedKernel> kernels;
  CommKind comm = CommKind::kWorld;
  spool::NcclFunction function = spool::NcclFunction::kAllReduce;
  std::uint64_t bytes = 0;  // a rank's argument
};

// `plan` is a training.
std::vector<StepUnit> training_step(const RunPlan& plan, const KernelMix& mix);

// Which kinds of communicators such a job has.
std::vector<CommKind> training_comm_kinds(const TrainingPlan& plan);

}  // namespace jaxprof::synthetic

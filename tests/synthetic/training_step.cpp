#include "tests/synthetic/training_step.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::synthetic {
namespace {

using spool::NcclFunction;

constexpr std::size_t kKernelsOfUnit = 12;
constexpr std::uint64_t kBytesANs = 45;          // of a copy between host and GPU
constexpr std::uint64_t kBytesANsInGpu = 1'500;  // within a GPU
constexpr std::int64_t kCopyLatencyNs = 2'000;
// What goes over the network in a step of this length. A longer step is one of a larger model.
constexpr double kUsualStepNs = 20e6;
constexpr double kBucketBytes = 32e6;
constexpr double kGradientBytes = 128e6;
constexpr double kLayerBytes = 16e6;  // of a rank, within its node
constexpr double kInputBytes = 4e6;

struct Call {
  CommKind comm;
  NcclFunction function;
  double bytes;
};

std::vector<Call> calls_of(TrainingComms comms) {
  if (comms == TrainingComms::kWorld) {
    const Call bucket{CommKind::kWorld, NcclFunction::kAllReduce, kBucketBytes};
    return {bucket, bucket, bucket, {CommKind::kWorld, NcclFunction::kAllReduce, kGradientBytes}};
  }
  const CommKind outer = comms == TrainingComms::kMixed ? CommKind::kWorld : CommKind::kRail;
  return {{CommKind::kNode, NcclFunction::kAllGather, kLayerBytes},
          {CommKind::kNode, NcclFunction::kReduceScatter, kLayerBytes},
          {outer, NcclFunction::kAllReduce, kBucketBytes},
          {outer, NcclFunction::kAllReduce, kGradientBytes}};
}

std::uint64_t scaled(double bytes, double by) {
  constexpr std::uint64_t kAlignment = 256;
  return static_cast<std::uint64_t>(bytes * by) / kAlignment * kAlignment + kAlignment;
}

}  // namespace

std::int64_t StepCopy::length_ns() const {
  const std::uint64_t rate = kind == CopyKind::kHostToDevice ? kBytesANs : kBytesANsInGpu;
  return kCopyLatencyNs + static_cast<std::int64_t>(bytes / rate);
}

std::vector<StepUnit> training_step(const RunPlan& plan, const KernelMix& mix) {
  const TrainingPlan& training = *plan.training;
  const double by = static_cast<double>(training.step_ns) / kUsualStepNs;
  test::SimRandom random(test::mix(plan.seed, 0x57e9));
  std::vector<StepUnit> units;
  double sum_ns = 0;
  std::uint64_t position = 0;
  for (const Call& call : calls_of(training.comms)) {
    StepUnit unit;
    unit.comm = call.comm;
    unit.function = call.function;
    unit.bytes = scaled(call.bytes, by);
    const bool is_first = units.empty();
    unit.copies.push_back(
        {is_first ? CopyKind::kHostToDevice : CopyKind::kDeviceToDevice, scaled(kInputBytes, is_first ? by : 1)});
    for (std::size_t i = 0; i < kKernelsOfUnit; ++i) {
      unit.kernels.push_back(mix.at(position++, &random));
      sum_ns += unit.kernels.back().length_ns;
    }
    units.push_back(std::move(unit));
  }
  // A kernel of some name takes the same everywhere.
  const double longer = static_cast<double>(training.step_ns) / sum_ns;
  for (StepUnit& unit : units) {
    for (MixedKernel& kernel : unit.kernels) {
      kernel.length_ns = static_cast<std::uint32_t>(std::lround(kernel.length_ns * longer));
    }
  }
  return units;
}

std::vector<CommKind> training_comm_kinds(const TrainingPlan& plan) {
  switch (plan.comms) {
    case TrainingComms::kMixed:
      return {CommKind::kWorld, CommKind::kNode};
    case TrainingComms::kSub:
      return {CommKind::kNode, CommKind::kRail};
    case TrainingComms::kWorld:
      break;
  }
  return {CommKind::kWorld};
}

}  // namespace jaxprof::synthetic

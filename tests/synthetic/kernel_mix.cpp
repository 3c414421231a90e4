#include "tests/synthetic/kernel_mix.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::synthetic {
namespace {

constexpr std::size_t kNames = 400;
constexpr std::uint64_t kRepeats = 24;  // of a layer
constexpr std::uint64_t kOddOnes = 32;  // one in so many is of no layer
constexpr double kShortestNs = 2'000;
constexpr double kLongestNs = 200'000;
// What GPUs stamp with is coarser than a nanosecond: lengths are multiples of this.
constexpr std::uint32_t kTickNs = 32;

std::string name_of(std::size_t number) {
  const std::string n = std::to_string(number);
  switch (number % 8) {
    case 0:
      return "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x" + n +
             "x64_warpgroupsize1x1x1_execute_kernel__5x_cublas";
    case 1:
      return "loop_multiply_add_fusion_" + n;
    case 2:
      return "input_reduce_fusion_" + n;
    case 3:
      return "gemm_fusion_dot_" + n;
    case 4:
      return "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm" + n +
             "EEEEviT0_T1_";
    case 5:
      return "triton_softmax_" + n;
    case 6:
      return "loop_broadcast_fusion_" + n;
    default:
      return "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_" + n;
  }
}

}  // namespace

KernelMix::KernelMix(std::uint64_t seed) {
  test::SimRandom random(test::mix(seed, 0x4e1));
  double weight_sum = 0;
  for (std::size_t i = 0; i < kNames; ++i) weight_sum += 1.0 / static_cast<double>(i + 1);
  std::size_t filled = 0;
  for (std::size_t i = 0; i < kNames; ++i) {
    names_.push_back(name_of(i));
    const double share = 1.0 / static_cast<double>(i + 1) / weight_sum;
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * kTableSize)));
    const std::size_t rest = kNames - 1 - i;  // each has one place at least
    const std::size_t places = std::min(wanted, kTableSize - filled - rest);
    std::fill_n(by_use_.begin() + static_cast<std::ptrdiff_t>(filled), places, static_cast<std::uint16_t>(i));
    filled += places;
    // What is used often is short.
    const double level = random.uniform() * random.uniform() * (0.5 + 0.5 * static_cast<double>(i) / kNames);
    const double length = kShortestNs * std::pow(kLongestNs / kShortestNs, std::min(1.0, 2 * level));
    const auto config_count = static_cast<std::uint16_t>(1 + random.next() % 3);
    kinds_.push_back({static_cast<std::uint16_t>(configs_.size()), config_count, static_cast<std::uint32_t>(length)});
    for (std::uint16_t c = 0; c < config_count; ++c) {
      spool::LaunchConfigState config{};
      config.config = static_cast<std::uint32_t>(configs_.size() + 1);
      config.grid[0] = static_cast<std::uint32_t>(1 + random.next() % 4096);
      config.grid[1] = config.grid[2] = 1;
      config.block[0] = 32U << random.next() % 6;
      config.block[1] = config.block[2] = 1;
      config.registers = static_cast<std::uint32_t>(16 + 8 * (random.next() % 30));
      config.dynamic_shared_bytes = static_cast<std::uint32_t>(1024 * (random.next() % 200));
      configs_.push_back(config);
    }
  }
  std::fill(by_use_.begin() + static_cast<std::ptrdiff_t>(filled), by_use_.end(), std::uint16_t{0});
  for (MixedKernel& kernel : layers_) kernel = draw(&random);
}

MixedKernel KernelMix::at(std::uint64_t position, test::SimRandom* random) const {
  if (random->next() % kOddOnes == 0) return draw(random);
  const std::uint64_t layer = test::mix(0, position / (kLayerKernels * kRepeats)) % kLayers;
  return layers_[layer * kLayerKernels + position % kLayerKernels];
}

MixedKernel KernelMix::draw(test::SimRandom* random) const {
  const std::uint64_t bits = random->next();
  const std::uint16_t name = by_use_[bits % kTableSize];
  const Kind& kind = kinds_[name];
  const auto config = static_cast<std::uint16_t>(kind.first_config + (bits >> 16 & 0xff) % kind.config_count);
  return {name, config, kind.length_ns / kTickNs * kTickNs};
}

}  // namespace jaxprof::synthetic

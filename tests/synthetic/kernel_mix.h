// Which kernels a training job runs: some hundred names as XLA, cuBLAS and PyTorch make them, used after Zipf's law,
// each launched in one to three ways, most of them a few microseconds long and the longest 200. A model is layers that
// repeat: one layer's kernels come several times in a row before another's do, with a few in between that do not
// repeat.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/spool/state_record.h"
#include "tests/simulator/sim_random.h"

namespace jaxprof::synthetic {

struct MixedKernel {
  std::uint16_t name = 0;    // index of names()
  std::uint16_t config = 0;  // index of configs()
  std::uint32_t length_ns = 0;
};

class KernelMix {
 public:
  explicit KernelMix(std::uint64_t seed);
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<spool::LaunchConfigState>& configs() const { return configs_; }  // `config` is index + 1
  // The kernel at that position of the program.
  MixedKernel at(std::uint64_t position, test::SimRandom* random) const;

 private:
  struct Kind {
    std::uint16_t first_config;
    std::uint16_t config_count;
    std::uint32_t length_ns;
  };
  static constexpr std::size_t kTableSize = 4096;
  static constexpr std::size_t kLayers = 32;
  static constexpr std::size_t kLayerKernels = 48;

  MixedKernel draw(test::SimRandom* random) const;

  std::vector<std::string> names_;
  std::vector<spool::LaunchConfigState> configs_;
  std::vector<Kind> kinds_;                         // by name
  std::array<std::uint16_t, kTableSize> by_use_{};  // each name as often as it is used
  std::array<MixedKernel, kLayers * kLayerKernels> layers_{};
};

}  // namespace jaxprof::synthetic

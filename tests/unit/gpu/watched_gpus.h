// A sampler with the real probe and the fake NVML, watched until something has come.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "netsampler/gpu/gpu_sampler.h"

namespace jaxprof::test {

using Variables = std::vector<std::pair<std::string, std::string>>;

class WatchedGpus {
 public:
  // Starts the probe with `variables` in its environment; FAKE_NVML_* without their prefix, others as they are.
  explicit WatchedGpus(const Variables& variables, netsampler::GpuSettings settings = quick());
  // Polls until `is_enough` or the sampler's end. Fails the test after a minute.
  void watch(const std::function<bool(const WatchedGpus&)>& is_enough);
  // Until the sampler has ended.
  void watch_to_end();

  // 20 rows a second.
  static netsampler::GpuSettings quick();

  netsampler::GpuSampler sampler;
  bool is_started = false;
  std::string why;
  netsampler::GpuUpdate all;  // that has come
  std::vector<netsampler::GpuRow> rows_of(std::uint32_t board) const;
  std::string notes() const;  // a line each
};

std::uint64_t value(const netsampler::GpuRow& row, netsampler::GpuColumn column);
// JAXPROF_LIBNVML of the fake: "fake_nvml" or "fake_nvml_old".
std::pair<std::string, std::string> library(const std::string& name = "fake_nvml");

}  // namespace jaxprof::test

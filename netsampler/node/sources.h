// What the sample loop reads, behind interfaces, so that tests can script ports that move by known amounts and boards
// that die. The two real ones are NicSampler and GpuSampler; what their functions mean stands there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "netsampler/gpu/gpu_sampler.h"
#include "netsampler/nic/nic_sampler.h"

namespace jaxprof::netsampler {

class NicSource {
 public:
  virtual ~NicSource() = default;
  virtual NicUpdate rescan() = 0;
  virtual bool wants_rescan() const = 0;
  virtual const std::vector<Port>& ports() const = 0;
  virtual void read(std::size_t port, bool fast_only, Reading* reading) = 0;
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  virtual bool start(std::string* why) = 0;
  virtual GpuUpdate poll() = 0;
  virtual bool is_running() const = 0;
};

std::unique_ptr<NicSource> nic_source(const NicSettings& settings);
std::unique_ptr<GpuSource> gpu_source(const GpuSettings& settings);

}  // namespace jaxprof::netsampler

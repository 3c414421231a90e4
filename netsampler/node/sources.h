// What the sample loop reads, behind interfaces, so that tests can script ports that move by known amounts, boards that
// die and clocks that tell what they like. The real ones are NicSampler, GpuSampler and ClockService; what their
// functions mean stands there.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "netsampler/clock/clock_service.h"
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

class ClockSource {
 public:
  virtual ~ClockSource() = default;
  virtual void start() = 0;
  virtual NewsQueue::Taken take() = 0;
  virtual void request_end() = 0;
  virtual void finish() = 0;
};

std::unique_ptr<NicSource> nic_source(const NicSettings& settings);
std::unique_ptr<GpuSource> gpu_source(const GpuSettings& settings);
std::unique_ptr<ClockSource> clock_source(ClockSettings settings);

}  // namespace jaxprof::netsampler

#include "netsampler/node/sources.h"

#include <utility>

namespace jaxprof::netsampler {
namespace {

class NodeNics : public NicSource {
 public:
  explicit NodeNics(const NicSettings& settings) : sampler_(settings) {}
  NicUpdate rescan() override { return sampler_.rescan(); }
  bool wants_rescan() const override { return sampler_.wants_rescan(); }
  const std::vector<Port>& ports() const override { return sampler_.ports(); }
  void read(std::size_t port, bool fast_only, Reading* reading) override { sampler_.read(port, fast_only, reading); }

 private:
  NicSampler sampler_;
};

class NodeGpus : public GpuSource {
 public:
  explicit NodeGpus(const GpuSettings& settings) : sampler_(settings) {}
  bool start(std::string* why) override { return sampler_.start(why); }
  GpuUpdate poll() override { return sampler_.poll(); }
  bool is_running() const override { return sampler_.is_running(); }

 private:
  GpuSampler sampler_;
};

class NodeClocks : public ClockSource {
 public:
  explicit NodeClocks(ClockSettings settings) : service_(std::move(settings)) {}
  void start() override { service_.start(); }
  NewsQueue::Taken take() override { return service_.take(); }
  void request_end() override { service_.request_end(); }
  void finish() override { service_.finish(); }

 private:
  ClockService service_;
};

}  // namespace

std::unique_ptr<NicSource> nic_source(const NicSettings& settings) {
  return std::make_unique<NodeNics>(settings);
}

std::unique_ptr<GpuSource> gpu_source(const GpuSettings& settings) {
  return std::make_unique<NodeGpus>(settings);
}

std::unique_ptr<ClockSource> clock_source(ClockSettings settings) {
  return std::make_unique<NodeClocks>(std::move(settings));
}

}  // namespace jaxprof::netsampler

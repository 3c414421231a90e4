#include "netsampler/gpu/gpu_sampler.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <fstream>

#include "netsampler/gpu/probe_child.h"
#include "netsampler/gpu/probe_parser.h"

namespace jaxprof::netsampler {
namespace {

using Clock = std::chrono::steady_clock;
using spool::NodeNote;

constexpr std::size_t kMostBytesAPoll = 256 * sizeof(ProbeRecord);

std::string probe_beside_this_program() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string own(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return own.substr(0, own.rfind('/') + 1) + "jaxprof-probe";
}

// -1 where the kernel does not tell, which it says by the same number.
int numa_node(const std::string& sysfs_root, const std::string& pci) {
  if (pci.empty()) return -1;
  std::ifstream file(sysfs_root + "/bus/pci/devices/" + pci + "/numa_node");
  int node = -1;
  return file >> node ? node : -1;
}

std::string seconds(std::chrono::milliseconds span) {
  const auto count = span.count();
  return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}

}  // namespace

class GpuSampler::Impl {
 public:
  explicit Impl(GpuSettings settings)
      : settings_(std::move(settings)),
        roster_([root = settings_.sysfs_root](const std::string& pci) { return numa_node(root, pci); }) {
    if (settings_.probe.empty()) settings_.probe = probe_beside_this_program();
  }

  bool start(std::string* why) {
    const Status started = child_.start(settings_.probe, {"--gpus", std::to_string(settings_.hz)});
    if (!started) {
      *why = "no GPU values, for the probe cannot be started: " + started.error().message;
      return false;
    }
    last_heard_ = Clock::now();
    state_ = State::kReading;
    return true;
  }

  GpuUpdate poll() {
    GpuUpdate update;
    if (state_ == State::kReading) read_pipe(&update);
    if (state_ == State::kReading) look_for_silence(&update);
    if (state_ == State::kClosed) look_for_end(&update);
    return update;
  }

  int descriptor() const { return state_ == State::kReading ? child_.descriptor() : -1; }
  bool is_running() const { return state_ == State::kReading || state_ == State::kClosed; }
  const std::vector<GpuBoard>& boards() const { return roster_.boards(); }
  void stop() {
    child_.end();
    state_ = State::kOver;
  }

 private:
  enum class State {
    kBefore,
    kReading,
    kClosed,  // it has closed its pipe, but not ended yet
    kOver,
  };

  void read_pipe(GpuUpdate* update) {
    std::array<std::uint8_t, 16 * sizeof(ProbeRecord)> bytes;
    for (std::size_t total = 0; total < kMostBytesAPoll;) {
      const ssize_t count = read(child_.descriptor(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return;  // nothing more for now
      if (count == 0) {
        state_ = State::kClosed;
        return;
      }
      last_heard_ = Clock::now();
      total += static_cast<std::size_t>(count);
      const auto visit = [&](const ProbeRecord& record) { return roster_.apply(record, update); };
      if (!parser_.feed({bytes.data(), static_cast<std::size_t>(count)}, visit)) {
        give_up("the probe's output is not its own (a library that prints, or memory that was overwritten)", update);
        return;
      }
    }
  }

  void look_for_silence(GpuUpdate* update) {
    const auto limit = roster_.has_rows() ? settings_.silence_limit : settings_.start_limit;
    if (Clock::now() - last_heard_ < limit) return;
    give_up("the GPU probe was ended, for it said nothing for " + seconds(limit) + ": NVML or the driver hangs",
            update);
  }

  void look_for_end(GpuUpdate* update) {
    const std::optional<int> status = child_.wait_status();
    if (!status.has_value()) {
      if (Clock::now() - last_heard_ >= settings_.silence_limit) {
        give_up("the GPU probe closed its pipe and does not end; it was killed", update);
      }
      return;
    }
    child_.end();
    state_ = State::kOver;
    if (*status == 0 && (roster_.has_reason() || are_all_lost())) return;
    update->notes.push_back(
        {what_is_lost(), "the GPU probe (" + settings_.probe + ") ended by itself: " + describe_end(*status)});
  }

  void give_up(const std::string& why, GpuUpdate* update) {
    child_.end();
    state_ = State::kOver;
    update->notes.push_back({what_is_lost(), why});
  }

  NodeNote what_is_lost() const { return roster_.has_rows() ? NodeNote::kGpuTrouble : NodeNote::kNoGpu; }

  bool are_all_lost() const {
    for (const GpuBoard& board : roster_.boards()) {
      if (!board.instance_of.has_value() && !board.is_lost) return false;
    }
    return !roster_.boards().empty();
  }

  GpuSettings settings_;
  State state_ = State::kBefore;
  ProbeChild child_;
  ProbeParser parser_;
  GpuRoster roster_;
  Clock::time_point last_heard_;
};

GpuSampler::GpuSampler(GpuSettings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
GpuSampler::~GpuSampler() = default;

bool GpuSampler::start(std::string* why) {
  return impl_->start(why);
}

GpuUpdate GpuSampler::poll() {
  return impl_->poll();
}

int GpuSampler::descriptor() const {
  return impl_->descriptor();
}

bool GpuSampler::is_running() const {
  return impl_->is_running();
}

const std::vector<GpuBoard>& GpuSampler::boards() const {
  return impl_->boards();
}

void GpuSampler::stop() {
  impl_->stop();
}

}  // namespace jaxprof::netsampler

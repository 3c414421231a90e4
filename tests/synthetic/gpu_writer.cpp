#include "tests/synthetic/gpu_writer.h"

#include <algorithm>
#include <string>

#include "agent/contract/session_page.h"
#include "agent/spool/varint.h"
#include "tests/synthetic/run_records.h"

namespace jaxprof::synthetic {
namespace {

using spool::NcclFunction;

constexpr std::int64_t kCallNs = 1'500;    // a launching CUDA call takes at least this
constexpr std::int64_t kBetweenNs = 200;   // two of them
constexpr std::uint32_t kLaunchApi = 307;  // cuLaunchKernel
constexpr std::uint32_t kHostCopyApi = 277;
constexpr std::uint32_t kDeviceCopyApi = 281;
constexpr std::uint32_t kContext = 1;
constexpr std::uint32_t kStreams[] = {7, 13, 14, 20, 21, 22, 23};  // kComputeStreams, then one a kind of communicator
static_assert(std::size(kStreams) == kComputeStreams + kCommKindCount);
constexpr std::uint32_t kChannel = 9;

std::uint64_t address_of(std::size_t stream) {
  return 0x55d0'0000'1000 + 0x40 * stream;
}
std::uint32_t lane_of(std::size_t stream) {
  return static_cast<std::uint32_t>(stream + 1);
}
std::size_t stream_of(CommKind kind) {
  return kComputeStreams + static_cast<std::size_t>(kind);
}

// Symbols of libnccl 2.28.
std::string kernel_name(NcclFunction function) {
  const auto mangled = [](const std::string& name) {
    return "_Z" + std::to_string(name.size()) + name + "24ncclDevKernelArgsStorageILm4096EE";
  };
  switch (function) {
    case NcclFunction::kAllGather:
      return mangled("ncclDevKernel_AllGather_RING_LL");
    case NcclFunction::kReduceScatter:
      return mangled("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL");
    case NcclFunction::kBroadcast:
      return mangled("ncclDevKernel_Broadcast_RING_LL");
    case NcclFunction::kSend:
      return mangled("ncclDevKernel_SendRecv");
    default:
      return mangled("ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
  }
}

}  // namespace

std::array<std::uint8_t, 16> uuid_of(const RunPlan& plan, std::uint32_t rank) {
  const std::uint64_t words[] = {test::mix(plan.seed, rank), test::mix(plan.seed ^ 1, rank)};
  std::array<std::uint8_t, 16> uuid{};
  std::memcpy(uuid.data(), words, uuid.size());
  return uuid;
}

GpuWriter::GpuWriter(const Run& run, std::uint32_t rank, SpoolFile* spool)
    : run_(run), rank_(rank), spool_(*spool), random_(test::mix(run.plan().seed ^ 0x9a4c, rank)) {}

std::uint64_t GpuWriter::stream_address(CommKind kind) {
  return address_of(stream_of(kind));
}

std::uint64_t GpuWriter::wall(std::int64_t true_ns) const {
  return static_cast<std::uint64_t>(run_.times().wall_ns(run_.plan().node_of(rank_), true_ns));
}

void GpuWriter::register_gpu() {
  spool::GpuCollectorState collector{};
  collector.mode = static_cast<std::uint32_t>(GpuMode::kShared);
  collector.version = 130'300;
  collector.library = spool_.string("/usr/local/cuda/lib64/libcupti.so.13");
  spool_.state(spool::StateKind::kGpuCollector, collector);
  spool::GpuDeviceState device{};
  device.name = spool_.string(kGpuName);
  const auto uuid = uuid_of(run_.plan(), rank_);
  std::memcpy(device.uuid, uuid.data(), sizeof device.uuid);
  device.capability = 90;
  device.processors = 132;
  device.memory_bytes = std::uint64_t{80} << 30;
  spool_.state(spool::StateKind::kGpuDevice, device);
  spool::GpuContextState context{};
  context.context = kContext;
  spool_.state(spool::StateKind::kGpuContext, context);
  const bool is_training = run_.plan().training.has_value();
  const std::size_t n_streams = kComputeStreams + (is_training ? kCommKindCount : std::size(kCommKinds));
  for (std::size_t i = 0; i < n_streams; ++i) {
    spool_.state(spool::StateKind::kGpuLane, spool::GpuLaneState{{}, lane_of(i), 0, kContext, kStreams[i]});
    spool_.state(spool::StateKind::kGpuStream, spool::GpuStreamState{{}, kContext, kStreams[i], address_of(i)});
  }
  register_api(kLaunchApi, "cuLaunchKernel");
  if (is_training) {
    register_api(kHostCopyApi, "cuMemcpyHtoDAsync_v2");
    register_api(kDeviceCopyApi, "cuMemcpyDtoDAsync_v2");
  }
  for (const std::string& name : run_.mix().names()) names_.emplace_back(spool_.string(name));
  for (const spool::LaunchConfigState& config : run_.mix().configs()) {
    spool_.state(spool::StateKind::kLaunchConfig, config);
    configs_.emplace_back(config.config);
  }
  // NCCL's: as many blocks as channels.
  spool::LaunchConfigState nccl{};
  nccl.config = static_cast<std::uint32_t>(configs_.size() + 1);
  nccl.grid[0] = 16;
  nccl.grid[1] = nccl.grid[2] = nccl.block[1] = nccl.block[2] = 1;
  nccl.block[0] = 512;
  nccl.registers = 96;
  spool_.state(spool::StateKind::kLaunchConfig, nccl);
  configs_.emplace_back(nccl.config);
}

void GpuWriter::register_api(std::uint32_t api, std::string_view name) {
  spool::GpuApiState state{};
  state.api = api;
  state.name = spool_.string(name);
  spool_.state(spool::StateKind::kGpuApi, state);
}

// Calls of one thread follow one another.
void GpuWriter::write_api(std::int64_t length_ns, std::uint32_t api) {
  spool_.call(spool::EventKind::kGpuApi, api, wall(api_ns_),
              {spool::fold_sign(length_ns), tid_of(rank_), correlation_, 0});
  api_ns_ += length_ns + kBetweenNs;
  ++api_count_;
}

GpuWriter::Started GpuWriter::launch(const SlotKernel& at, std::int64_t late_ns) {
  constexpr std::uint32_t kTickNs = 32;
  constexpr std::int64_t kStartJitterNs = 600;  // less than the shortest gap
  const std::uint64_t bits = random_.next();
  // Up to 3 per cent less than on the slowest rank.
  const std::uint64_t saved_ns = at.kernel.length_ns * (bits >> 32 & 0xff) / (33 * 256) / kTickNs * kTickNs;
  const Started started{at.kernel, at.stream, at.start_ns + late_ns + static_cast<std::int64_t>(bits % kStartJitterNs),
                        static_cast<std::int64_t>(at.kernel.length_ns - saved_ns), ++correlation_};
  if (run_.plan().has_api) {
    api_ns_ = std::max(api_ns_, started.start_ns - kLeadNs);
    write_api(kCallNs + static_cast<std::int64_t>(bits >> 48 & 0x3ff), kLaunchApi);
  }
  return started;
}

void GpuWriter::write(const Started& started) {
  spool::KernelEvent kernel{};
  kernel.name = names_[started.kernel.name];
  kernel.lane = spool::MadeVarint(lane_of(started.stream));
  kernel.config = configs_[started.kernel.config];
  kernel.start_ns = wall(started.start_ns);
  kernel.duration = spool::fold_sign(started.length_ns);
  kernel.correlation = started.correlation;
  kernel.channel = kChannel;
  spool_.kernel(kernel);
  ++kernel_count_;
}

void GpuWriter::write_kernels(const Slot& slot, std::int64_t late_ns) {
  for (const SlotKernel& at : slot.kernels) {
    const Started started = launch(at, late_ns);
    if (started.stream != 0) {
      beside_.push_back(started);
      continue;
    }
    const auto is_over = [&started](const Started& other) { return other.end_ns() <= started.end_ns(); };
    for (const Started& other : beside_) {
      if (is_over(other)) write(other);
    }
    std::erase_if(beside_, is_over);
    write(started);
  }
  for (const Started& other : beside_) write(other);
  beside_.clear();
}

void GpuWriter::write_launch(const CourseWork& work, std::uint32_t api) {
  ++correlation_;
  if (!run_.plan().has_api) return;
  api_ns_ = std::max(api_ns_, work.launch_ns);
  write_api(kCallNs, api);
}

void GpuWriter::write_kernel(const MixedKernel& kernel, const CourseWork& work) {
  write_launch(work, kLaunchApi);
  write({kernel, 0, work.start_ns, work.length_ns, correlation_});
}

void GpuWriter::write_copy(const StepCopy& copy, const CourseWork& work) {
  // CUpti_ActivityMemcpyKind and CUpti_ActivityMemoryKind.
  constexpr std::uint32_t kToDevice = 1;
  constexpr std::uint32_t kInDevice = 8;
  constexpr std::uint32_t kPinned = 2;
  constexpr std::uint32_t kDevice = 3;
  constexpr std::uint32_t kAsync = 1U << 24;
  const bool is_from_host = copy.kind == CopyKind::kHostToDevice;
  write_launch(work, is_from_host ? kHostCopyApi : kDeviceCopyApi);
  const std::uint32_t id =
      (is_from_host ? kToDevice | kPinned << 8 : kInDevice | kDevice << 8) | kDevice << 16 | kAsync;
  spool_.call(spool::EventKind::kGpuMemcpy, id, wall(work.start_ns),
              {spool::fold_sign(work.length_ns), lane_of(0), correlation_, copy.bytes});
  ++copy_count_;
}

void GpuWriter::write_nccl_kernel(CommKind kind, NcclFunction function, const Launch& launch, std::int64_t start_ns,
                                  std::int64_t end_ns) {
  spool::KernelEvent kernel{};
  kernel.name = spool::MadeVarint(spool_.string(kernel_name(function)));
  kernel.lane = spool::MadeVarint(lane_of(stream_of(kind)));
  kernel.config = configs_.back();
  kernel.start_ns = wall(start_ns);
  kernel.duration = spool::fold_sign(end_ns - start_ns);
  kernel.correlation = ++correlation_;
  kernel.channel = kChannel;
  if (launch.handle != 0) spool_.external(launch.handle, correlation_);
  if (run_.plan().has_api) {
    constexpr std::int64_t kIntoLaunchNs = 100;
    api_ns_ = std::max(api_ns_, launch.at_ns + kIntoLaunchNs);
    write_api(kCallNs, kLaunchApi);
  }
  spool_.kernel(kernel);
  ++kernel_count_;
}

}  // namespace jaxprof::synthetic

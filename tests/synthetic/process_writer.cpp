#include "tests/synthetic/process_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "agent/spool/varint.h"
#include "tests/synthetic/run_records.h"

namespace jaxprof::synthetic {
namespace {

using spool::EventKind;
using spool::NcclFunction;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLateAttachNs = 1'000'000;  // before its first slot
// The program is this far ahead of its GPU.
constexpr std::int64_t kLeadNs = 60'000;
constexpr std::int64_t kCallNs = 1'500;      // a launching CUDA call takes at least this
constexpr std::int64_t kExitJitterNs = 800;  // members leave a collective within this
constexpr std::uint32_t kLaunchApi = 307;    // cuLaunchKernel
constexpr std::uint32_t kContext = 1;
constexpr std::uint32_t kStreams[] = {7, 13, 14, 20, 21, 22};  // kComputeStreams, then one a kind of communicator
constexpr std::uint32_t kChannel = 9;
constexpr const char* kInner[] = {"attention", "mlp", "norm", "rotary", "dropout", "embed", "loss", "optimizer"};

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

ProcessWriter::ProcessWriter(const Run& run, std::uint32_t rank, const std::string& directory)
    : run_(run),
      plan_(run.plan()),
      arrivals_(run),
      rank_(rank),
      node_(plan_.node_of(rank)),
      faulty_(run.fault_of(rank)),
      late_ns_(faulty_ == nullptr ? 0 : faulty_->fault.late_ns),
      directory_(directory),
      host_(&spool_, run.times(), node_, plan_.nccl_by, test::mix(plan_.seed ^ 0x4057, rank)),
      random_(test::mix(plan_.seed ^ 0x9a4c, rank)) {}

// ---- registrations and clocks

void ProcessWriter::begin(std::int64_t attach_ns, bool is_from_start) {
  spool_.write_identity(identity_texts(plan_, rank_), identity_numbers(run_, rank_, attach_ns));
  write_anchor(attach_ns);
  next_anchor_ns_ = attach_ns + kSecondNs;
  spool::ThreadState thread{};
  thread.thread = SpoolFile::kThread;
  thread.tid = tid_of(rank_);
  spool_.state(spool::StateKind::kThread, thread);
  spool::HookState hook{};
  hook.hook = kHookNvtx;
  hook.detail = 1;
  hook.stamp = static_cast<std::uint64_t>(run_.times().raw_ns(node_, attach_ns));
  spool_.state(spool::StateKind::kHook, hook);
  spool::SegmentState segment{};
  segment.is_open = 1;
  segment.cause = static_cast<std::uint32_t>(spool::WindowCause::kAttach);
  segment.stamp = hook.stamp;
  segment.realtime_ns = run_.times().wall_ns(node_, attach_ns);
  spool_.state(spool::StateKind::kSegment, segment);
  host_.go_to(attach_ns);
  if (plan_.kernels + plan_.calls > 0) register_gpu();
  if (plan_.calls > 0) {
    if (plan_.has_nccl_ranges()) register_nccl_domain(&spool_);
    register_comms(is_from_start);
  }
}

void ProcessWriter::register_gpu() {
  spool::GpuCollectorState collector{};
  collector.mode = static_cast<std::uint32_t>(GpuMode::kShared);
  collector.version = 130'300;
  collector.library = spool_.string("/usr/local/cuda/lib64/libcupti.so.13");
  spool_.state(spool::StateKind::kGpuCollector, collector);
  spool::GpuDeviceState device{};
  device.name = spool_.string("NVIDIA H100 80GB HBM3");
  const std::uint64_t uuid[] = {test::mix(plan_.seed, rank_), test::mix(plan_.seed ^ 1, rank_)};
  std::memcpy(device.uuid, uuid, sizeof device.uuid);
  device.capability = 90;
  device.processors = 132;
  device.memory_bytes = std::uint64_t{80} << 30;
  spool_.state(spool::StateKind::kGpuDevice, device);
  spool::GpuContextState context{};
  context.context = kContext;
  spool_.state(spool::StateKind::kGpuContext, context);
  for (std::size_t i = 0; i < std::size(kStreams); ++i) {
    spool_.state(spool::StateKind::kGpuLane, spool::GpuLaneState{{}, lane_of(i), 0, kContext, kStreams[i]});
    spool_.state(spool::StateKind::kGpuStream, spool::GpuStreamState{{}, kContext, kStreams[i], address_of(i)});
  }
  spool::GpuApiState api{};
  api.api = kLaunchApi;
  api.name = spool_.string("cuLaunchKernel");
  spool_.state(spool::StateKind::kGpuApi, api);
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

void ProcessWriter::register_comms(bool is_seen_made) {
  for (const CommKind kind : kCommKinds) {
    const Comm comm = comm_of(plan_, kind, rank_);
    if (!comm.exists()) continue;
    spool::CommunicatorState state{};
    state.communicator = number_of(kind);
    state.api = 5;
    state.hash = comm.hash;
    state.rank = static_cast<std::int32_t>(rank_ - comm.first);
    state.rank_count = static_cast<std::int32_t>(comm.size);
    state.node_count =
        static_cast<std::int32_t>(plan_.node_of(comm.first + comm.size - 1) - plan_.node_of(comm.first) + 1);
    if (plan_.has_plugin()) spool_.state(spool::StateKind::kCommunicator, state);
    if (!is_seen_made || !plan_.has_nccl_ranges()) continue;
    host_.make_comm(comm, rank_, 0);
    ++truth_.nvtx;
  }
}

void ProcessWriter::write_anchor(std::int64_t true_ns) {
  const NodeTimes& times = run_.times();
  const std::int64_t raw_ns = times.raw_ns(node_, true_ns);
  const std::int64_t wall_ns = times.wall_ns(node_, true_ns);
  spool_.anchor({static_cast<std::uint64_t>(raw_ns), raw_ns, wall_ns, raw_ns + 12'345, 40});
  spool::GpuClockState clock{};
  clock.counter = static_cast<std::uint64_t>(raw_ns);
  clock.bracket = 60;
  clock.gpu_ns = clock.realtime_ns = wall_ns;
  spool_.state(spool::StateKind::kGpuClock, clock);
}

void ProcessWriter::keep_time(std::int64_t true_ns) {
  for (; next_anchor_ns_ <= true_ns; next_anchor_ns_ += kSecondNs) write_anchor(next_anchor_ns_);
}

// ---- slots

void ProcessWriter::write_api(std::int64_t start_ns, std::int64_t length_ns, std::uint32_t correlation) {
  spool_.call(EventKind::kGpuApi, kLaunchApi, wall(start_ns),
              {spool::fold_sign(length_ns), tid_of(rank_), correlation, 0});
  ++truth_.api;
}

ProcessWriter::Started ProcessWriter::launch(const SlotKernel& at) {
  constexpr std::uint32_t kTickNs = 32;
  constexpr std::int64_t kStartJitterNs = 600;  // less than the shortest gap
  const std::uint64_t bits = random_.next();
  // Up to 3 per cent less than on the slowest rank.
  const std::uint64_t saved_ns = at.kernel.length_ns * (bits >> 32 & 0xff) / (33 * 256) / kTickNs * kTickNs;
  const Started started{at.kernel, at.stream, at.start_ns + late_ns_ + static_cast<std::int64_t>(bits % kStartJitterNs),
                        static_cast<std::int64_t>(at.kernel.length_ns - saved_ns), ++correlation_};
  if (plan_.has_api) {
    api_ns_ = std::max(api_ns_, started.start_ns - kLeadNs);
    const std::int64_t length_ns = kCallNs + static_cast<std::int64_t>(bits >> 48 & 0x3ff);
    write_api(api_ns_, length_ns, correlation_);
    api_ns_ += length_ns + 200;
  }
  return started;
}

void ProcessWriter::write_kernel(const Started& started) {
  spool::KernelEvent kernel{};
  kernel.name = names_[started.kernel.name];
  kernel.lane = spool::MadeVarint(lane_of(started.stream));
  kernel.config = configs_[started.kernel.config];
  kernel.start_ns = wall(started.start_ns);
  kernel.duration = spool::fold_sign(started.length_ns);
  kernel.correlation = started.correlation;
  kernel.channel = kChannel;
  spool_.kernel(kernel);
  ++truth_.kernels;
}

void ProcessWriter::write_kernels(const Slot& slot) {
  for (const SlotKernel& at : slot.kernels) {
    const Started started = launch(at);
    if (started.stream != 0) {
      beside_.push_back(started);
      continue;
    }
    const auto is_over = [&started](const Started& other) { return other.end_ns() <= started.end_ns(); };
    for (const Started& other : beside_) {
      if (is_over(other)) write_kernel(other);
    }
    std::erase_if(beside_, is_over);
    write_kernel(started);
  }
  for (const Started& other : beside_) write_kernel(other);
  beside_.clear();
}

// One around the slot, and the others within, every second one inside of another.
void ProcessWriter::write_ranges(const Slot& slot) {
  if (slot.ranges == 0) return;
  constexpr std::int64_t kMarginNs = 2'000;
  const std::int64_t begin_ns = slot.start_ns + late_ns_ - kLeadNs - kMarginNs;
  const std::int64_t end_ns = slot.ready_ns + late_ns_ - kLeadNs - 2 * kMarginNs;
  const std::uint32_t inner = slot.ranges - 1;
  const std::int64_t width_ns = (end_ns - begin_ns) / (inner + 1);
  host_.go_to(begin_ns);
  host_.push("layer" + std::to_string(slot.index % 48));
  for (std::uint32_t i = 0; i < inner;) {
    host_.go_to(begin_ns + width_ns * i);
    host_.push(kInner[i % std::size(kInner)]);
    if (i + 1 < inner) {
      host_.push(kInner[(i + 1) % std::size(kInner)]);
      host_.go_to(begin_ns + width_ns * (i + 1));
      host_.pop();
      ++i;
    }
    ++i;
    host_.go_to(begin_ns + width_ns * i - width_ns / 4);
    host_.pop();
  }
  host_.go_to(end_ns);
  host_.pop();
  truth_.nvtx += slot.ranges;
}

std::vector<NcclCall> ProcessWriter::calls_of(const Slot& slot, const Comm& comm, const Unit& unit) {
  const auto rank = static_cast<std::int32_t>(rank_ - comm.first);
  NcclCall call{comm, unit.function, unit.bytes, 0, -1, rank};
  auto& sequence = sequence_[static_cast<std::size_t>(comm.kind)];
  if (unit.shape == UnitShape::kExchange) {
    call.peer = 1 - rank;
    call.sequence = sequence[static_cast<std::size_t>(NcclFunction::kSend)]++;
    NcclCall receive = call;
    receive.function = NcclFunction::kRecv;
    return {call, receive};
  }
  if (faulty_ != nullptr) {
    if (const auto change = faulty_->changes.find(slot.unit_index);
        change != faulty_->changes.end() && change->second.bytes != 0) {
      call.function = change->second.function;
      call.bytes = change->second.bytes;
    }
  }
  std::vector<NcclCall> calls;
  for (std::uint32_t i = 0; i < unit.call_count(); ++i) {
    call.sequence = sequence[static_cast<std::size_t>(call.function)]++;
    calls.push_back(call);
    call.bytes /= 2;
  }
  return calls;
}

void ProcessWriter::note_odd(const Comm& comm, std::vector<OddCall>* list, NcclFunction function) {
  list->push_back({rank_, comm.kind, comm.hash, function,
                   sequence_[static_cast<std::size_t>(comm.kind)][static_cast<std::size_t>(function)]});
}

void ProcessWriter::count_unit(const Slot& slot, const Comm& comm, const Unit& unit, const CallTruth& truth) {
  own_.calls += unit.call_count();
  truth_.nccl += unit.call_count();
  // Without the plugin's mark the work is found by the call that launched it.
  if (plan_.has_plugin() || plan_.has_api) truth_.nccl_work += unit.call_count();
  if (plan_.has_nccl_ranges()) truth_.nvtx += unit.call_count() + (unit.shape == UnitShape::kSingle ? 0 : 2);
  if (unit.shape == UnitShape::kExchange) {
    // Its Send, if the other's Recv is there, and the other way round.
    (truth.recorded == comm.size ? truth_.messages : truth_.half_messages) += truth.recorded == comm.size ? 1 : 2;
    return;
  }
  own_.collectives += unit.call_count();
  own_.lateness_ns += unit.call_count() * (arrivals_.arrival_ns(slot, comm, rank_) - truth.first_ns);
  truth_.members += unit.call_count();
}

void ProcessWriter::write_unit(const Slot& slot) {
  const Unit& unit = *slot.unit;
  const Comm comm = comm_of(plan_, unit.comm, rank_);
  if (!comm.exists()) return;
  const CallTruth truth = arrivals_.truth_of(slot, comm);
  if (unit.shape != UnitShape::kExchange && truth.reporter == rank_ && run_.records(rank_, slot)) {
    truth_.collectives += unit.call_count();
    if (truth.recorded < comm.size) truth_.partial += unit.call_count();
    if (truth.is_mismatch) truth_.mismatched += unit.call_count();
    truth_.ranks[truth.last].came_last += unit.call_count();
  }
  CallChange change;
  if (faulty_ != nullptr) {
    if (const auto found = faulty_->changes.find(slot.unit_index); found != faulty_->changes.end()) {
      change = found->second;
      const bool is_gone = change.is_omitted || change.is_unrecorded;
      const bool is_moved = faulty_->fault.kind == FaultKind::kSwap || faulty_->fault.kind == FaultKind::kReorder;
      if (is_gone) note_odd(comm, &truth_.missing_calls, unit.function);
      if (!is_gone && is_moved) note_odd(comm, &truth_.moved_calls, change.function);
    }
  }
  if (change.is_omitted) return;
  const std::vector<NcclCall> calls = calls_of(slot, comm, unit);
  const bool is_recorded = run_.records_slot(rank_, slot);
  if (!is_recorded) return;  // its number counts all the same
  const std::int64_t arrival_ns = arrivals_.arrival_ns(slot, comm, rank_);
  const std::size_t stream = stream_of(comm.kind);
  Launch launch{0, arrival_ns - kLeadNs};
  if (change.is_unrecorded) {
    constexpr std::uint64_t kEventsOfACall = 14;
    dropped_ += kEventsOfACall;
  } else {
    host_.go_to(arrival_ns - kLeadNs);
    launch = host_.call(calls, address_of(stream));
    count_unit(slot, comm, unit, truth);
  }
  spool::KernelEvent kernel{};
  kernel.name = spool::MadeVarint(spool_.string(kernel_name(calls.front().function)));
  kernel.lane = spool::MadeVarint(lane_of(stream));
  kernel.config = configs_.back();
  kernel.start_ns = wall(arrival_ns);
  const std::int64_t end_ns =
      truth.last_ns + unit.transfer_ns() + static_cast<std::int64_t>(random_.next() % kExitJitterNs);
  kernel.duration = spool::fold_sign(end_ns - arrival_ns);
  kernel.correlation = ++correlation_;
  kernel.channel = kChannel;
  if (launch.handle != 0) spool_.external(launch.handle, correlation_);
  if (plan_.has_api) {
    api_ns_ = std::max(api_ns_, launch.at_ns + 100);
    write_api(api_ns_, kCallNs, correlation_);
    api_ns_ += kCallNs + 200;
  }
  spool_.kernel(kernel);
  ++truth_.kernels;
}

void ProcessWriter::write_slot(const Slot& slot) {
  keep_time(slot.start_ns);
  const bool has_steps = run_.size().steps > 0;
  if (has_steps && slot.begins_step) {
    host_.go_to(slot.start_ns + late_ns_ - kLeadNs - 3'000);
    host_.push_step(slot.step);
    ++truth_.nvtx;
    ++truth_.steps;
  }
  write_ranges(slot);
  write_kernels(slot);
  if (slot.unit) write_unit(slot);
  if (has_steps && slot.ends_step) {
    host_.go_to(slot.ready_ns + late_ns_ - kLeadNs - (slot.unit ? -20'000 : 3'500));
    host_.pop();
  }
}

// ---- the whole

// The slot is begun, and its first block does not come to its end.
Status ProcessWriter::tear(const Slot& slot) {
  spool_.flush();
  const std::uint64_t whole_bytes = spool_.bytes();
  const RunTruth truth = truth_;
  const RankTruth own = own_;
  const std::uint64_t events = spool_.events();
  write_slot(slot);
  spool_.flush();
  truth_ = truth;
  own_ = own;
  truth_.events = events;
  constexpr std::uint64_t kRestBytes = 30;  // a block's header and some of its payload, which is 16 bytes at least
  truth_.spool_bytes = whole_bytes + kRestBytes;
  if (truncate(path_.c_str(), static_cast<off_t>(truth_.spool_bytes)) != 0) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot cut " + path_);
  }
  return {};
}

Result<WrittenSpool> ProcessWriter::write() && {
  const bool is_torn = faulty_ != nullptr && faulty_->fault.kind == FaultKind::kTorn;
  const bool is_late_step = faulty_ != nullptr && faulty_->fault.kind == FaultKind::kLateStep;
  const std::string stem = stem_of(rank_);
  path_ = is_torn ? run_layout::part_spool_path(directory_, stem) : run_layout::spool_path(directory_, stem);
  if (!spool_.create(path_, test::mix(plan_.seed ^ 0xf11e, rank_))) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot create " + path_);
  }
  bool has_begun = false;
  Timeline timeline = run_.timeline();
  for (Slot slot; timeline.next(&slot);) {
    if (is_torn && slot.index == run_.torn_slot()) {
      if (const auto torn = tear(slot); !torn) return tl::unexpected(torn.error());
      break;
    }
    if (!run_.records_slot(rank_, slot)) {
      if (slot.unit) write_unit(slot);
      continue;
    }
    if (!has_begun) begin(slot.start_ns - (is_late_step ? kLateAttachNs : kSecondNs), !is_late_step);
    has_begun = true;
    write_slot(slot);
  }
  if (!is_torn) {
    const std::int64_t end_ns = timeline.end_ns() + kSecondNs / 10;
    write_anchor(end_ns);
    spool::SegmentState segment{};
    segment.cause = static_cast<std::uint32_t>(spool::WindowCause::kExit);
    segment.stamp = static_cast<std::uint64_t>(run_.times().raw_ns(node_, end_ns));
    segment.realtime_ns = run_.times().wall_ns(node_, end_ns);
    spool_.state(spool::StateKind::kSegment, segment);
    const spool::CounterRecord lost{static_cast<std::uint32_t>(Drop::kRingFull), 0, dropped_};
    spool_.write_footer(run_.times().wall_ns(node_, end_ns), {&lost, dropped_ > 0 ? 1U : 0U});
    truth_.events = spool_.events();
    truth_.spool_bytes = spool_.bytes();
  }
  if (const int failure = spool_.failure(); failure != 0) {
    errno = failure;
    return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path_);
  }
  own_.kernels = truth_.kernels;
  truth_.processes = 1;
  truth_.dropped = dropped_;
  RunTruth part;
  part.ranks[rank_] = own_;
  truth_.add(std::move(part));
  return WrittenSpool{path_.substr(path_.rfind('/') + 1), truth_.spool_bytes, truth_.events, dropped_,
                      std::move(truth_)};
}

}  // namespace jaxprof::synthetic

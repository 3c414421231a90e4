#include "tests/synthetic/process_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "tests/synthetic/run_records.h"

namespace jaxprof::synthetic {
namespace {

using spool::NcclFunction;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kLateAttachNs = 1'000'000;  // before its first slot
constexpr std::int64_t kExitJitterNs = 800;        // members leave a collective within this
constexpr const char* kInner[] = {"attention", "mlp", "norm", "rotary", "dropout", "embed", "loss", "optimizer"};

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
      gpu_(run, rank, &spool_),
      random_(test::mix(plan_.seed ^ 0x3a1d, rank)) {}

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
  if (plan_.kernels + plan_.calls > 0) gpu_.register_gpu();
  if (plan_.calls > 0) {
    if (plan_.has_nccl_ranges()) register_nccl_domain(&spool_);
    register_comms(is_from_start);
  }
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

std::vector<NcclCall> ProcessWriter::calls_of(const Comm& comm, const Unit& unit, const CallChange& change) {
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
  if (change.bytes != 0) {
    call.function = change.function;
    call.bytes = change.bytes;
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

// The instances that the rank is the first member of.
void ProcessWriter::count_instances(const Comm& comm, const Unit& unit, const CallTruth& truth) {
  truth_.collectives += unit.call_count();
  if (truth.recorded < comm.size) truth_.partial += unit.call_count();
  if (truth.is_mismatch) truth_.mismatched += unit.call_count();
  truth_.ranks[truth.last].came_last += unit.call_count();
}

// What the rank's fault makes of the unit; noted where that is odd.
CallChange ProcessWriter::change_of(const Slot& slot, const Comm& comm) {
  if (faulty_ == nullptr) return {};
  const auto found = faulty_->changes.find(slot.unit_index);
  if (found == faulty_->changes.end()) return {};
  const CallChange& change = found->second;
  const bool is_gone = change.is_omitted || change.is_unrecorded;
  const bool is_moved = faulty_->fault.kind == FaultKind::kSwap || faulty_->fault.kind == FaultKind::kReorder;
  if (is_gone) note_odd(comm, &truth_.missing_calls, slot.unit->function);
  if (!is_gone && is_moved) note_odd(comm, &truth_.moved_calls, change.function);
  return change;
}

void ProcessWriter::write_unit(const Slot& slot) {
  const Unit& unit = *slot.unit;
  const Comm comm = comm_of(plan_, unit.comm, rank_);
  if (!comm.exists()) return;
  const CallTruth truth = arrivals_.truth_of(slot, comm);
  const bool is_reporter = truth.reporter == rank_ && run_.records(rank_, slot);
  if (is_reporter && unit.shape != UnitShape::kExchange) count_instances(comm, unit, truth);
  const CallChange change = change_of(slot, comm);
  if (change.is_omitted) return;
  const std::vector<NcclCall> calls = calls_of(comm, unit, change);
  if (!run_.records_slot(rank_, slot)) return;  // its number counts all the same
  const std::int64_t arrival_ns = arrivals_.arrival_ns(slot, comm, rank_);
  Launch launch{0, arrival_ns - kLeadNs};
  if (change.is_unrecorded) {
    constexpr std::uint64_t kEventsOfACall = 14;
    dropped_ += kEventsOfACall;
  } else {
    host_.go_to(arrival_ns - kLeadNs);
    launch = host_.call(calls, GpuWriter::stream_address(comm.kind));
    count_unit(slot, comm, unit, truth);
  }
  const std::int64_t end_ns =
      truth.last_ns + unit.transfer_ns() + static_cast<std::int64_t>(random_.next() % kExitJitterNs);
  gpu_.write_nccl_kernel(comm.kind, calls.front().function, launch, arrival_ns, end_ns);
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
  gpu_.write_kernels(slot, late_ns_);
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
  settle();
  const RunTruth truth = truth_;
  const RankTruth own = own_;
  write_slot(slot);
  spool_.flush();
  truth_ = truth;
  own_ = own;
  constexpr std::uint64_t kRestBytes = 30;  // a block's header and some of its payload, which is 16 bytes at least
  truth_.spool_bytes = whole_bytes + kRestBytes;
  if (truncate(path_.c_str(), static_cast<off_t>(truth_.spool_bytes)) != 0) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot cut " + path_);
  }
  return {};
}

// What the parts have counted.
void ProcessWriter::settle() {
  truth_.kernels = gpu_.kernel_count();
  truth_.api = gpu_.api_count();
  truth_.events = spool_.events();
  truth_.spool_bytes = spool_.bytes();
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
    settle();
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

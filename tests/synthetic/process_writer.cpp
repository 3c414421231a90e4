#include "tests/synthetic/process_writer.h"

#include <unistd.h>

#include "agent/contract/run_layout.h"
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
      faulty_(run.fault_of(rank)),
      late_ns_(faulty_ == nullptr ? 0 : faulty_->fault.late_ns),
      directory_(directory),
      spool_(run, rank),
      host_(spool_.host()),
      gpu_(spool_.gpu()),
      random_(test::mix(plan_.seed ^ 0x3a1d, rank)) {}

void ProcessWriter::begin(std::int64_t attach_ns, bool is_from_start) {
  spool_.begin(attach_ns);
  if (plan_.kernels + plan_.calls > 0) gpu_.register_gpu();
  if (plan_.calls == 0) return;
  std::vector<Comm> comms;
  for (const CommKind kind : kCommKinds) comms.push_back(comm_of(plan_, kind, rank_));
  truth_.nvtx += spool_.register_comms(comms, is_from_start);
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
  spool_.keep_time(slot.start_ns);
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
  spool_.file().flush();
  const std::uint64_t whole_bytes = spool_.file().bytes();
  settle();
  const RunTruth truth = truth_;
  const RankTruth own = own_;
  write_slot(slot);
  spool_.file().flush();
  truth_ = truth;
  own_ = own;
  constexpr std::uint64_t kRestBytes = 30;  // a block's header and some of its payload, which is 16 bytes at least
  truth_.spool_bytes = whole_bytes + kRestBytes;
  if (truncate(spool_.path().c_str(), static_cast<off_t>(truth_.spool_bytes)) != 0) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot cut " + spool_.path());
  }
  return {};
}

// What the parts have counted.
void ProcessWriter::settle() {
  truth_.kernels = gpu_.kernel_count();
  truth_.api = gpu_.api_count();
  truth_.events = spool_.file().events();
  truth_.spool_bytes = spool_.file().bytes();
}

Result<WrittenSpool> ProcessWriter::write() && {
  const bool is_torn = faulty_ != nullptr && faulty_->fault.kind == FaultKind::kTorn;
  const bool is_late_step = faulty_ != nullptr && faulty_->fault.kind == FaultKind::kLateStep;
  const std::string stem = stem_of(rank_);
  const std::string path =
      is_torn ? run_layout::part_spool_path(directory_, stem) : run_layout::spool_path(directory_, stem);
  if (const auto created = spool_.create(path); !created) return tl::unexpected(created.error());
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
    spool_.finish(timeline.end_ns() + kSecondNs / 10, dropped_);
    settle();
  }
  if (const auto checked = spool_.check(); !checked) return tl::unexpected(checked.error());
  own_.kernels = truth_.kernels;
  truth_.processes = 1;
  truth_.dropped = dropped_;
  RunTruth part;
  part.ranks[rank_] = own_;
  truth_.add(std::move(part));
  return WrittenSpool{spool_.name(), truth_.spool_bytes, truth_.events, dropped_, std::move(truth_)};
}

}  // namespace jaxprof::synthetic

#include "tests/synthetic/training_writer.h"

#include <algorithm>

#include "agent/contract/run_layout.h"
#include "tests/synthetic/run_records.h"
#include "tests/synthetic/training_record.h"

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kAttachNs = 1'000'000'000;  // before the first step
constexpr std::int64_t kLateAttachNs = 1'000'000;  // before the first one that is recorded
constexpr std::int64_t kLeaveNs = 100'000'000;     // after the last one
constexpr std::int64_t kMarginNs = 3'000;          // of a range around what is in it

}  // namespace

TrainingWriter::TrainingWriter(const Run& run, std::uint32_t rank, const std::string& directory)
    : run_(run), course_(*run.course()), rank_(rank), directory_(directory), spool_(run, rank) {}

void TrainingWriter::begin() {
  const std::uint32_t first_step = first_recorded_step(run_, rank_);
  const std::int64_t first_ns = course_.segment(rank_, first_step, 0).begin_ns;
  spool_.begin(first_ns - (first_step == 0 ? kAttachNs : kLateAttachNs));
  spool_.gpu().register_gpu();
  std::vector<Comm> comms;
  for (const CommKind kind : training_comm_kinds(*run_.plan().training)) {
    comms.push_back(comm_of(run_.plan(), kind, rank_));
  }
  truth_.nvtx += spool_.register_comms(comms, first_step == 0);
}

void TrainingWriter::write_call(const StepUnit& program, const Segment& segment, bool is_recorded) {
  const Comm comm = comm_of(run_.plan(), program.comm, rank_);
  std::uint64_t& sequence = sequence_[static_cast<std::size_t>(comm.kind)][static_cast<std::size_t>(program.function)];
  NcclCall call{comm, program.function, program.bytes, sequence++, -1, static_cast<std::int32_t>(comm.rank_of(rank_))};
  Launch launch{0, segment.call_ns};
  if (is_recorded) {
    spool_.host().go_to(segment.call_ns);
    launch = spool_.host().call({call}, GpuWriter::stream_address(comm.kind));
    ++own_.calls;
    ++truth_.nccl;
    if (run_.plan().has_plugin() || run_.plan().has_api) ++truth_.nccl_work;
    if (run_.plan().has_nccl_ranges()) ++truth_.nvtx;
    ++truth_.members;
    ++own_.collectives;
  } else {
    constexpr std::uint64_t kEventsOfACall = 14;
    dropped_ += kEventsOfACall;
  }
  spool_.gpu().write_nccl_kernel(comm.kind, program.function, launch, segment.arrival_ns, segment.end_ns);
}

void TrainingWriter::write_segment(std::uint32_t step, std::uint32_t unit) {
  const StepUnit& program = course_.units()[unit];
  const Segment& segment = course_.segment(rank_, step, unit);
  HostThread& host = spool_.host();
  spool_.keep_time(segment.begin_ns);
  if (unit == 0) {
    host.go_to(segment.begin_ns - kLeadNs - kMarginNs);
    host.push_step(step);
    ++truth_.steps;
    ++truth_.nvtx;
  }
  host.go_to(segment.begin_ns - kLeadNs);
  host.push("block" + std::to_string(unit));
  ++truth_.nvtx;
  for (std::size_t i = 0; i < segment.copies.size(); ++i) {
    spool_.gpu().write_copy(program.copies[i], segment.copies[i]);
  }
  for (std::size_t i = 0; i < segment.kernels.size(); ++i) {
    spool_.gpu().write_kernel(program.kernels[i], segment.kernels[i]);
  }
  host.go_to(segment.call_ns - kMarginNs);
  host.pop();
  write_call(program, segment, is_recorded(run_, rank_, step, unit));
  if (unit + 1 == course_.units().size()) host.pop();
}

WrittenSpool TrainingWriter::settle() {
  truth_.kernels = spool_.gpu().kernel_count();
  truth_.api = spool_.gpu().api_count();
  truth_.events = spool_.file().events();
  truth_.spool_bytes = spool_.file().bytes();
  truth_.processes = 1;
  truth_.dropped = dropped_;
  own_.kernels = truth_.kernels;
  RunTruth part;
  part.ranks[rank_] = own_;
  truth_.add(std::move(part));
  return {spool_.name(), truth_.spool_bytes, truth_.events, dropped_, std::move(truth_)};
}

Result<WrittenSpool> TrainingWriter::write() && {
  const std::string path = run_layout::spool_path(directory_, stem_of(rank_));
  if (const auto created = spool_.create(path); !created) return tl::unexpected(created.error());
  begin();
  const auto n_units = static_cast<std::uint32_t>(course_.units().size());
  for (std::uint32_t step = 0; step < course_.steps(); ++step) {
    for (std::uint32_t unit = 0; unit < n_units; ++unit) {
      if (step >= first_recorded_step(run_, rank_)) {
        write_segment(step, unit);
      } else {  // its calls have numbers all the same
        const StepUnit& program = course_.units()[unit];
        ++sequence_[static_cast<std::size_t>(program.comm)][static_cast<std::size_t>(program.function)];
      }
    }
  }
  spool_.finish(course_.end_ns() + kLeaveNs, dropped_);
  if (const auto checked = spool_.check(); !checked) return tl::unexpected(checked.error());
  return settle();
}

}  // namespace jaxprof::synthetic

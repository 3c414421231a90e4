#include "tests/synthetic/process_spool.h"

#include <cerrno>

#include "agent/contract/session_page.h"
#include "tests/synthetic/run_records.h"

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

}  // namespace

ProcessSpool::ProcessSpool(const Run& run, std::uint32_t rank)
    : run_(run),
      rank_(rank),
      node_(run.plan().node_of(rank)),
      host_(&spool_, run.times(), node_, run.plan().nccl_by, test::mix(run.plan().seed ^ 0x4057, rank)),
      gpu_(run, rank, &spool_) {}

Status ProcessSpool::create(const std::string& path) {
  path_ = path;
  if (spool_.create(path_, test::mix(run_.plan().seed ^ 0xf11e, rank_))) return {};
  return fail_errno(ErrorCode::kOutputFailed, "cannot create " + path_);
}

void ProcessSpool::begin(std::int64_t attach_ns) {
  spool_.write_identity(identity_texts(run_.plan(), rank_), identity_numbers(run_, rank_, attach_ns));
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
}

std::uint64_t ProcessSpool::register_comms(std::span<const Comm> comms, bool is_seen_made) {
  const RunPlan& plan = run_.plan();
  if (plan.has_nccl_ranges()) register_nccl_domain(&spool_);
  std::uint64_t range_count = 0;
  for (const Comm& comm : comms) {
    if (!comm.exists()) continue;
    spool::CommunicatorState state{};
    state.communicator = number_of(comm.kind);
    state.api = 5;
    state.hash = comm.hash;
    state.rank = static_cast<std::int32_t>(comm.rank_of(rank_));
    state.rank_count = static_cast<std::int32_t>(comm.size);
    state.node_count =
        static_cast<std::int32_t>(plan.node_of(comm.member(comm.size - 1)) - plan.node_of(comm.member(0)) + 1);
    if (plan.has_plugin()) spool_.state(spool::StateKind::kCommunicator, state);
    if (!is_seen_made || !plan.has_nccl_ranges()) continue;
    host_.make_comm(comm, rank_, 0);
    ++range_count;
  }
  return range_count;
}

void ProcessSpool::write_anchor(std::int64_t true_ns) {
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

void ProcessSpool::keep_time(std::int64_t true_ns) {
  for (; next_anchor_ns_ <= true_ns; next_anchor_ns_ += kSecondNs) write_anchor(next_anchor_ns_);
}

void ProcessSpool::finish(std::int64_t end_ns, std::uint64_t dropped) {
  write_anchor(end_ns);
  spool::SegmentState segment{};
  segment.cause = static_cast<std::uint32_t>(spool::WindowCause::kExit);
  segment.stamp = static_cast<std::uint64_t>(run_.times().raw_ns(node_, end_ns));
  segment.realtime_ns = run_.times().wall_ns(node_, end_ns);
  spool_.state(spool::StateKind::kSegment, segment);
  const spool::CounterRecord lost{static_cast<std::uint32_t>(Drop::kRingFull), 0, dropped};
  spool_.write_footer(run_.times().wall_ns(node_, end_ns), {&lost, dropped > 0 ? 1U : 0U});
}

Status ProcessSpool::check() const {
  const int failure = spool_.failure();
  if (failure == 0) return {};
  errno = failure;
  return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path_);
}

}  // namespace jaxprof::synthetic

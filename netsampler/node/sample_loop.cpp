#include "netsampler/node/sample_loop.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// What is to be done besides reading ports, in this order where it is due together.
enum Chore : std::uint32_t { kLook, kRescan, kTicks, kFlush, kSync };

struct ChorePeriod {
  Chore chore;
  std::uint64_t period_ns;
};
constexpr ChorePeriod kChores[] = {
    {kLook, kSecond / 10}, {kRescan, 5 * kSecond}, {kTicks, 10 * kSecond}, {kFlush, kSecond}, {kSync, 30 * kSecond}};

}  // namespace

SampleLoop::SampleLoop(const LoopParts& parts, std::uint32_t segment, bool is_shared)
    : parts_(parts),
      segment_(segment),
      is_shared_(is_shared),
      origin_ns_(parts.clock->now_ns()),
      nics_(parts.nics, parts.clock, parts.spool, origin_ns_),
      gpus_(parts.gpus, parts.clock, parts.spool),
      clocks_(parts.clocks, parts.clock, parts.spool),
      chores_(origin_ns_) {}

void SampleLoop::run(const LoopQuestions& questions) {
  begin(questions);
  while (!is_over_) {
    const std::uint64_t reading_ns = parts_.nics != nullptr ? nics_.next_deadline_ns() : UINT64_MAX;
    parts_.clock->sleep_until(std::min(reading_ns, chores_.next_deadline_ns()));
    if (parts_.nics != nullptr) nics_.read_due();
    do_chores(questions);
  }
  finish();
}

// The first samples are in the file at once: a job of a second has them.
void SampleLoop::begin(const LoopQuestions& questions) {
  write_observer();
  if (parts_.clocks != nullptr) clocks_.start();
  const std::uint64_t stamp = parts_.clock->raw_ns();
  if (parts_.gpus != nullptr) {
    look_at_gpus(questions);
  } else {
    parts_.spool->note(spool::NodeNote::kNotSampled, "GPUs are not sampled: it was not asked for", stamp);
  }
  if (parts_.nics != nullptr) {
    nics_.rescan();
  } else {
    parts_.spool->note(spool::NodeNote::kNotSampled, "network ports are not sampled: it was not asked for", stamp);
  }
  parts_.spool->flush();
  for (const ChorePeriod& entry : kChores) {
    chores_.set(entry.chore, entry.period_ns, entry.period_ns, parts_.clock->now_ns());
  }
}

void SampleLoop::do_chores(const LoopQuestions& questions) {
  chores_.take_due(parts_.clock->now_ns(), &due_);
  for (const DueTick& tick : due_) {
    switch (tick.entry) {
      case kLook:
        is_over_ = questions.is_over();
        if (parts_.gpus != nullptr) look_at_gpus(questions);
        break;
      case kRescan:
        if (parts_.nics != nullptr) nics_.rescan();
        break;
      case kTicks:
        write_ticks();
        break;
      case kFlush:
        if (parts_.nics != nullptr && nics_.wants_rescan()) nics_.rescan();
        look_at_neighbours(questions);
        if (parts_.clocks != nullptr) clocks_.take();
        parts_.spool->flush();
        break;
      case kSync:
        parts_.spool->sync();
        break;
      default:
        break;
    }
  }
}

void SampleLoop::look_at_gpus(const LoopQuestions& questions) {
  if (!has_gpus_) {
    has_gpus_ = questions.wants_gpus();
    if (!has_gpus_) return;
    gpus_.start();
  }
  gpus_.poll();
}

void SampleLoop::look_at_neighbours(const LoopQuestions& questions) {
  if (is_shared_ || !questions.is_shared()) return;
  is_shared_ = true;
  write_observer();
}

// What the clocks have to do last takes a moment, in which the observer may be killed: all else is in the file by then.
void SampleLoop::finish() {
  if (parts_.clocks != nullptr) clocks_.request_end();
  if (parts_.nics != nullptr) nics_.finish();
  if (parts_.gpus != nullptr && has_gpus_) gpus_.finish();
  if (parts_.gpus != nullptr && !has_gpus_) {
    parts_.spool->note(spool::NodeNote::kNotSampled, "GPUs are not sampled: no task of the node is traced",
                       parts_.clock->raw_ns());
  }
  if (parts_.clocks != nullptr) {
    clocks_.take();
    parts_.spool->flush();
    clocks_.finish();
  }
  write_ticks();
  parts_.spool->finish();
}

void SampleLoop::write_observer() {
  spool::NodeObserverState record{};
  record.segment = segment_;
  record.is_shared = is_shared_ ? 1 : 0;
  record.stamp = parts_.clock->raw_ns();
  parts_.spool->state(spool::StateKind::kNodeObserver, record);
}

void SampleLoop::write_ticks() {
  const TickCounts& counts = nics_.counts();
  spool::NodeTicksState record{};
  record.ticks = counts.ticks;
  record.missed = counts.missed;
  record.lateness_max_ns = counts.lateness_max_ns;
  record.lateness_sum_ns = counts.lateness_sum_ns;
  record.read_ns = nics_.read_ns();
  record.cpu_ns = parts_.clock->cpu_ns();
  record.stamp = parts_.clock->raw_ns();
  parts_.spool->state(spool::StateKind::kNodeTicks, record);
}

}  // namespace jaxprof::netsampler

#include "agent/cupti/missing_work.h"

#include <algorithm>

#include "agent/base/clocks.h"
#include "agent/collect/event_sink.h"
#include "agent/cupti/collector.h"

namespace jaxprof::cupti {
namespace {

// Between two records of a graph that runs. Only where it was launched once, or is not alike each time, so that hardly
// a process pays for it at its exit.
constexpr std::int64_t kQuietNs = 100'000'000;

std::uint64_t records_lost_by_other_names() noexcept {
  const ProcessSlot* slot = collect::process_slot();
  if (slot == nullptr) return 0;
  return slot->drops[static_cast<int>(Drop::kGpuDropped)].load(std::memory_order_relaxed) +
         slot->drops[static_cast<int>(Drop::kGpuBuffersFull)].load(std::memory_order_relaxed);
}

}  // namespace

bool write_off_buffers() noexcept {
  const std::uint32_t lost = collector.pool.awaited_from_cupti();
  if (lost == 0) return false;
  collect::count_drop(Drop::kGpuUnflushed, lost);
  collector.pool.write_off(lost);
  note_buffers_written_off(lost);
  return true;
}

std::uint32_t open_launches() noexcept {
  return collector.encoder.ledger().open_launches() + collector.encoder.graph_launches().short_launches();
}

// A launch counts from when its call has been read, so the order matters: what CUPTI holds, what is to be read, what
// has been.
bool MissingWork::is_none() noexcept {
  const bool is_quiet_now = is_quiet();
  return collector.pool.awaited_from_cupti() == 0 && collector.pool.unread() == 0 && open_launches() == 0 &&
         (is_quiet_now || collector.encoder.graph_launches().unmeasured_launches() == 0);
}

bool MissingWork::is_quiet() noexcept {
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t returns = collector.pool.returns();
  if (returns != returns_ || quiet_since_ns_ == 0) {
    returns_ = returns;
    quiet_since_ns_ = now_ns;
  }
  return now_ns - quiet_since_ns_ >= kQuietNs;
}

// The record of a launch's work may be among those that are counted as dropped already.
void MissingWork::count() noexcept {
  const std::uint64_t open = open_launches();
  const std::uint64_t lost = records_lost_by_other_names();
  const std::uint64_t known = std::min(open, lost - lost_before_);
  lost_before_ = lost;
  if (open > known) collect::count_drop(Drop::kGpuUnflushed, open - known);
  if (open > 0) collector.encoder.ledger().ask_to_forget();
  collector.encoder.graph_launches().ask_to_forget();
  if (!write_off_buffers()) return;
  if (collector.is_dead.load(std::memory_order_acquire)) return;  // that is the reason, and it has been told
  publish_status(recording_mode(),
                 "CUPTI did not give its buffers back: another client of it, which does not subscribe, has put its own "
                 "in the place of ours");
}

}  // namespace jaxprof::cupti

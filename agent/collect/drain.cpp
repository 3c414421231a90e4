#include "agent/collect/drain.h"

#include <sys/mman.h>
#include <sys/prctl.h>

#include <cstring>

#include "agent/base/futex.h"
#include "agent/base/service_thread.h"
#include "agent/collect/limits.h"
#include "agent/collect/own_descriptors.h"
#include "agent/collect/session.h"
#include "agent/collect/session_files.h"
#include "agent/collect/window.h"
#include "agent/spool/block.h"
#include "agent/spool/event_codec.h"

namespace jaxprof::collect {
namespace {

constexpr std::int64_t kTickNs = 100'000'000;
constexpr std::int64_t kFlushNs = 500'000'000;  // a ring with anything in it is written at least this often
constexpr std::int64_t kAnchorNs = 1'000'000'000;
constexpr std::int64_t kDiskCheckNs = 1'000'000'000;
constexpr std::uint64_t kDiskCheckBytes = 1 << 20;  // or after this much, whichever comes first
constexpr std::int64_t kSyncNs = 30'000'000'000;    // a lost node loses at most this much
constexpr std::size_t kPayloadBytes = 256 << 10;
constexpr std::size_t kBlockBytes = spool::SpoolWriter::kHeadroom + kPayloadBytes;
constexpr std::size_t kStackBytes = 512 << 10;

// Both words are futexes.
std::atomic<std::uint32_t> wake_word{0};
enum : std::uint32_t { kRunning = 1, kFinishing = 2, kFinished = 3 };
std::atomic<std::uint32_t> drain_state{0};

class Drain {
 public:
  // `buffer` holds two blocks, each of a header and kPayloadBytes.
  explicit Drain(std::uint8_t* buffer) noexcept
      : buffer_(buffer),
        activity_buffer_(buffer + kBlockBytes),
        encoder_(buffer + spool::SpoolWriter::kHeadroom, kPayloadBytes) {}

  // Until exit() asks for the end, or the task's recording is stopped. Then a last look follows, one tick later, when a
  // thread that was in the middle of an event has finished it, and when GPUs have told what they still had.
  void run() noexcept {
    for (;;) {
      const std::uint32_t seen = wake_word.load(std::memory_order_acquire);
      const bool is_last = drain_state.load(std::memory_order_acquire) == kFinishing || has_settled();
      pass_window_time();
      pass(is_last);
      if (is_last) break;
      if (!has_stopped()) stop_if_told();
      futex_wait(&wake_word, seen, sleep_ns());
    }
    if (is_shutdown_due()) session.page->asks_shutdown.store(1, std::memory_order_release);
  }

 private:
  // Registrations go to the file before the events that refer to them: an event is committed after its string.
  void pass(bool is_last) noexcept {
    const std::uint32_t ring_count = session.ring_count.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < ring_count; ++i) {
      spool::RingHeader* ring = session.rings[i].load(std::memory_order_acquire);
      heads_[i] = ring != nullptr ? ring->head.load(std::memory_order_acquire) : 0;
    }
    const std::int64_t now = clock_ns(CLOCK_MONOTONIC);
    const bool is_flush = is_last || now - last_flush_ns_ >= kFlushNs;
    write_state();
    for (std::uint32_t i = 0; i < ring_count; ++i) drain_ring(i, is_flush);
    drain_activities();
    if (is_flush) last_flush_ns_ = now;
    if (is_last || now - last_anchor_ns_ >= kAnchorNs) {
      write_anchor();
      last_anchor_ns_ = now;
    }
    write_counters(is_last);
    if (is_last) write_footer();
    if (now - last_sync_ns_ >= kSyncNs) {
      if (last_sync_ns_ != 0) session.spool.sync();
      last_sync_ns_ = now;
    }
    session.slot->events.store(event_count_, std::memory_order_relaxed);
    session.slot->spool_bytes.store(session.spool.bytes(), std::memory_order_release);
    if (session.spool.has_failed() && !has_told_failure_) {
      has_told_failure_ = true;
      stop_for_write_failure(session.page, session.slot, session.spool.failure());
    }
    check_limits(now);
  }

  void check_limits(std::int64_t now) noexcept {
    const std::uint64_t bytes = session.spool.bytes();
    count_spool_bytes(session.page, bytes - counted_bytes_);
    counted_bytes_ = bytes;
    if (now - last_disk_check_ns_ < kDiskCheckNs && bytes - disk_checked_bytes_ < kDiskCheckBytes) return;
    check_disk(session.page, session.spool.fd());
    last_disk_check_ns_ = now;
    disk_checked_bytes_ = bytes;
  }

  // Until the next look: a tick, or less where the window has an edge before.
  static std::int64_t sleep_ns() noexcept {
    const std::int64_t edge_ns = pass_window_time();
    if (edge_ns == INT64_MAX) return kTickNs;
    const std::int64_t left_ns = edge_ns - clock_ns(CLOCK_MONOTONIC);
    return left_ns < 0 ? 0 : left_ns < kTickNs ? left_ns : kTickNs;
  }

  void stop_if_told() noexcept {
    const StopReason reason = session.page->stop.load(std::memory_order_acquire);
    if (reason != StopReason::kNone) {
      stop_recording_here(footer_reason(reason));
    } else if (is_shutdown_due()) {
      stop_recording_here(spool::FooterReason::kWindowEnd);
    }
  }

  // What GPUs did until now is still to come, and this thread is the one that reads it: it goes on until then.
  void stop_recording_here(spool::FooterReason reason) noexcept {
    if (!end_recording(spool::WindowCause::kStopped)) return;
    stopped_ns_ = clock_ns(CLOCK_MONOTONIC);
    footer_reason_ = reason;
    if (const GpuCollector* gpus = gpu_collector(); gpus != nullptr) gpus->ask_finish(kGpuFinishMs);
  }

  bool has_stopped() const noexcept { return stopped_ns_ != 0; }
  bool has_settled() const noexcept {
    if (!has_stopped() || clock_ns(CLOCK_MONOTONIC) - stopped_ns_ < kTickNs) return false;
    const GpuCollector* gpus = gpu_collector();
    return gpus == nullptr || gpus->is_finished();
  }

  std::uint8_t* payload() noexcept { return buffer_ + spool::SpoolWriter::kHeadroom; }

  bool write(spool::BlockKind kind, std::size_t bytes) noexcept {
    return session.spool.write_block(kind, buffer_, bytes);
  }

  void write_state() noexcept {
    for (; log_index_ < session.state_log.segment_count(); ++log_index_, log_at_ = 0) {
      // Read before `committed`: a segment that is not the last any more has got all that it will get.
      const bool is_last = log_index_ + 1 >= session.state_log.segment_count();
      spool::StateLogHeader* log = session.state_log.segment(log_index_);
      const std::uint64_t committed = log->committed.load(std::memory_order_acquire);
      while (log_at_ < committed) {
        // Whole records only, as many as fit; the largest is smaller than a payload.
        std::size_t bytes = 0;
        while (log_at_ + bytes < committed) {
          spool::StateHeader header;
          std::memcpy(&header, spool::segment_data(log) + log_at_ + bytes, sizeof header);
          if (bytes > 0 && bytes + header.bytes > kPayloadBytes) break;
          bytes += header.bytes;
          if (bytes >= kPayloadBytes) break;
        }
        if (bytes > kPayloadBytes) {  // a record as long as this cannot be written; registrations are far shorter
          count_drop(Drop::kStateLogFull);
        } else {
          std::memcpy(payload(), spool::segment_data(log) + log_at_, bytes);
          if (!write(spool::BlockKind::kState, bytes)) count_drop(Drop::kSpoolWriteFailed);
        }
        log_at_ += bytes;
        log->written.store(log_at_, std::memory_order_release);
      }
      if (is_last) break;
    }
  }

  // What waits for the next flush at most: a ring that is drained in time stays small.
  static std::uint64_t due_bytes(const spool::RingHeader& ring) noexcept {
    const bool has_grown = ring.grown_at.load(std::memory_order_relaxed) != spool::kNotGrown;
    return has_grown ? ring.capacity / 8 : ring.small_capacity / 4;
  }

  void drain_ring(std::uint32_t index, bool is_flush) noexcept {
    spool::RingHeader* ring = session.rings[index].load(std::memory_order_acquire);
    if (ring == nullptr) return;
    const std::uint64_t head = heads_[index];
    std::uint64_t tail = ring->tail.load(std::memory_order_relaxed);
    const spool::RingState state = ring->state.load(std::memory_order_acquire);
    const bool is_due = is_flush || head - tail >= due_bytes(*ring);
    if (tail != head && is_due) {
      tail = encode(ring, tail, head);
      ring->tail.store(tail, std::memory_order_release);
    }
    // A ring whose thread has gone can serve another once it is empty.
    if (state == spool::RingState::kClosed && tail == ring->head.load(std::memory_order_acquire)) {
      ring->state.store(spool::RingState::kFree, std::memory_order_release);
    }
  }

  std::uint64_t encode(spool::RingHeader* ring, std::uint64_t tail, std::uint64_t head) noexcept {
    const std::uint32_t thread = ring->thread.load(std::memory_order_relaxed);
    const std::uint8_t* data = spool::segment_data(ring);
    bool is_open = false;
    while (tail != head) {
      const std::uint8_t* at = data + spool::ring_offset(ring, tail);
      std::uint64_t first_word;
      std::memcpy(&first_word, at, sizeof first_word);
      const std::uint64_t bytes = first_word & 0xffff;
      const auto kind = static_cast<spool::EventKind>((first_word >> 16) & 0xff);
      if (kind == spool::EventKind::kPadding) {
        tail += bytes;
        continue;
      }
      const auto* record = reinterpret_cast<const spool::EventHeader*>(at);
      if (!is_open) {
        encoder_.begin(thread, record->stamp);
        is_open = true;
      }
      encoder_.add(*record);
      tail += bytes;
      if (!encoder_.has_room()) {
        write_events();
        is_open = false;
      }
    }
    if (is_open) write_events();
    return tail;
  }

  void write_events() noexcept {
    if (write(spool::BlockKind::kEvents, encoder_.size())) {
      event_count_ += encoder_.event_count();
    } else {
      count_drop(Drop::kSpoolWriteFailed, encoder_.event_count());
    }
  }

  // What GPUs did, as far as CUPTI has told. Its strings and lanes are registered while the block is filled, so the log
  // is written once more before the block.
  void drain_activities() noexcept {
    const GpuCollector* gpus = gpu_collector();
    if (gpus == nullptr) return;
    std::uint64_t count = 0;
    std::uint8_t* activities = activity_buffer_ + spool::SpoolWriter::kHeadroom;
    for (std::size_t bytes; (bytes = gpus->fill_block(activities, kPayloadBytes, &count)) > 0; count = 0) {
      write_state();
      if (session.spool.write_block(spool::BlockKind::kActivities, activity_buffer_, bytes)) {
        event_count_ += count;
      } else {
        count_drop(Drop::kSpoolWriteFailed, count);
      }
    }
  }

  void write_anchor() noexcept {
    const spool::AnchorRecord record = spool::take_anchor_record(session.clock);
    std::memcpy(payload(), &record, sizeof record);
    write(spool::BlockKind::kAnchors, sizeof record);
  }

  std::uint32_t put_counters(std::uint8_t* out) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Drop::kCount); ++i) {
      const std::uint64_t drops = session.slot->drops[i].load(std::memory_order_relaxed);
      if (drops == 0) continue;
      const spool::CounterRecord record{i, 0, drops};
      std::memcpy(out + count * sizeof record, &record, sizeof record);
      ++count;
    }
    return count;
  }

  void write_counters(bool is_last) noexcept {
    if (is_last) return;  // the footer has them
    std::uint64_t sum = 0;
    for (const auto& drops : session.slot->drops) sum += drops.load(std::memory_order_relaxed);
    if (sum == written_drops_) return;
    written_drops_ = sum;
    write(spool::BlockKind::kCounters, put_counters(payload()) * sizeof(spool::CounterRecord));
  }

  void write_footer() noexcept {
    spool::FooterRecord footer{};
    footer.reason = static_cast<std::uint32_t>(footer_reason_);
    footer.counter_count = put_counters(payload() + sizeof footer);
    footer.events = event_count_;
    footer.blocks = session.spool.blocks();
    footer.realtime_ns = static_cast<std::uint64_t>(clock_ns(CLOCK_REALTIME));
    std::memcpy(payload(), &footer, sizeof footer);
    if (write(spool::BlockKind::kFooter, sizeof footer + footer.counter_count * sizeof(spool::CounterRecord))) {
      session.slot->state.store(SlotState::kEnded, std::memory_order_release);
    }
  }

  std::uint8_t* buffer_;
  std::uint8_t* activity_buffer_;
  spool::EventEncoder encoder_;
  std::uint64_t heads_[kMaxThreadRings] = {};
  std::uint32_t log_index_ = 0;
  std::uint64_t log_at_ = 0;
  std::uint64_t event_count_ = 0;
  std::uint64_t written_drops_ = 0;
  std::int64_t last_flush_ns_ = 0;
  std::int64_t last_anchor_ns_ = 0;
  std::int64_t last_sync_ns_ = 0;
  std::int64_t last_disk_check_ns_ = 0;
  std::uint64_t counted_bytes_ = 0;       // of the spool, in the session page's sum
  std::uint64_t disk_checked_bytes_ = 0;  // of the spool, when its disk was looked at
  std::int64_t stopped_ns_ = 0;           // when the recording was; 0: it is not
  bool has_told_failure_ = false;         // of the spool
  spool::FooterReason footer_reason_ = spool::FooterReason::kExit;
};

void* drain_main(void* buffer) {
  prctl(PR_SET_NAME, "jaxprof-drain");
  take_own_descriptors();
  char path[kSpoolPathBytes];
  if (join_spool_path(path, session.slot->spool_name)) {
    session.spool.resume(path, session.spool.bytes(), session.spool.blocks());  // the first pass tells a failure
  }
  Drain drain(static_cast<std::uint8_t*>(buffer));
  drain.run();
  session.is_drained.store(true, std::memory_order_release);
  drain_state.store(kFinished, std::memory_order_release);
  futex_wake_all(&drain_state);
  return nullptr;
}

// A thread that was in the middle of an event, off the processor, may have finished it after the last pass.
void count_late_events() noexcept {
  const std::uint32_t ring_count = session.ring_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < ring_count; ++i) {
    spool::RingHeader* ring = session.rings[i].load(std::memory_order_acquire);
    if (ring == nullptr) continue;
    const std::uint64_t head = ring->head.load(std::memory_order_acquire);
    for (std::uint64_t tail = ring->tail.load(std::memory_order_acquire); tail != head;) {
      std::uint64_t first_word;
      std::memcpy(&first_word, spool::segment_data(ring) + spool::ring_offset(ring, tail), sizeof first_word);
      tail += first_word & 0xffff;
      const auto kind = static_cast<spool::EventKind>((first_word >> 16) & 0xff);
      if (kind != spool::EventKind::kPadding) count_drop(Drop::kAfterEnd);
    }
  }
}

}  // namespace

bool start_drain() noexcept {
  void* buffer = mmap(nullptr, 2 * kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (buffer == MAP_FAILED) return false;
  drain_state.store(kRunning, std::memory_order_release);
  return start_service_thread(drain_main, buffer, kStackBytes);
}

void wake_drain_thread() noexcept {
  wake_word.fetch_add(1, std::memory_order_acq_rel);
  futex_wake_one(&wake_word);
}

bool finish_drain(std::uint32_t timeout_ms) noexcept {
  std::uint32_t expected = kRunning;
  if (!drain_state.compare_exchange_strong(expected, kFinishing)) {  // stopped before
    if (expected == kFinished) count_late_events();
    return expected == kFinished;
  }
  wake_drain_thread();
  const std::int64_t deadline = clock_ns(CLOCK_MONOTONIC) + static_cast<std::int64_t>(timeout_ms) * 1'000'000;
  while (drain_state.load(std::memory_order_acquire) != kFinished) {
    const std::int64_t left = deadline - clock_ns(CLOCK_MONOTONIC);
    if (left <= 0) return false;
    futex_wait(&drain_state, kFinishing, left);
  }
  count_late_events();
  return true;
}

}  // namespace jaxprof::collect

#include "agent/cupti/flusher.h"

#include <sys/prctl.h>

#include <algorithm>

#include "agent/base/futex.h"
#include "agent/base/service_thread.h"
#include "agent/collect/event_sink.h"
#include "agent/cupti/collector.h"
#include "agent/cupti/gpu_clock.h"
#include "agent/cupti/missing_work.h"

namespace jaxprof::cupti {
namespace {

constexpr std::int64_t kMillisecondNs = 1'000'000;
constexpr std::int64_t kFlushNs = 1'000 * kMillisecondNs;     // while open
constexpr std::int64_t kPollNs = 20 * kMillisecondNs;         // while draining
constexpr std::int64_t kScarceFlushNs = 50 * kMillisecondNs;  // while CUPTI holds half of the pool
constexpr std::int64_t kLastPollNs = 2 * kMillisecondNs;      // while the process waits to end
constexpr std::int64_t kReadNs = 500 * kMillisecondNs;        // the drain thread reads gigabytes in that time
constexpr std::int64_t kLingerNs = 2'000 * kMillisecondNs;    // how long a window that may reopen keeps its kinds
constexpr std::int64_t kDrainNs = 2'000 * kMillisecondNs;     // what has not ended by then is asked for as it is
constexpr std::int64_t kClosingNs = 200 * kMillisecondNs;     // an opening waits so long for kinds to be disabled
constexpr std::int64_t kSilenceNs = 10'000 * kMillisecondNs;
constexpr std::size_t kStackBytes = 8U << 20;  // CUPTI's and the driver's code runs on it

std::atomic<std::uint32_t> wake_word{0};
std::atomic<std::uint32_t> closings{0};  // that have ended
enum : std::uint32_t { kNotStarted, kRunning, kFinishing, kFinished };
std::atomic<std::uint32_t> state{kNotStarted};
std::atomic<bool> is_asked_to_tell{false};
std::atomic<bool> is_flush_asked{false};          // since the last one
std::atomic<std::int64_t> finish_deadline_ns{0};  // CLOCK_MONOTONIC; 0: nobody has asked
std::atomic<bool> has_given_up{false};            // on the last flush

bool is_dead() noexcept {
  return collector.is_dead.load(std::memory_order_acquire);
}
bool is_forked() noexcept {
  return collector.is_forked.load(std::memory_order_acquire);
}

class Flusher {
 public:
  void run() noexcept {
    wait_until_ready();
    last_flush_ns_ = clock_ns(CLOCK_MONOTONIC);  // the first comes a second later: cuInit has gone on by then
    while (state.load(std::memory_order_acquire) == kRunning) {
      const std::uint32_t seen = wake_word.load(std::memory_order_acquire);
      if (is_asked_to_tell.exchange(false, std::memory_order_acq_rel)) collect::tell_gpu_collector();
      const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
      const std::int64_t pause_ns = is_dead() ? count_once_over(now_ns) : step(now_ns);
      futex_wait(&wake_word, seen, pause_ns);
    }
    finish();
  }

 private:
  // Until initialize() is over. Neither CUPTI nor CUDA is called meanwhile: the thread would wait for the lock of
  // cuInit.
  static void wait_until_ready() noexcept {
    for (;;) {
      const std::uint32_t seen = wake_word.load(std::memory_order_acquire);
      if (collector.is_ready.load(std::memory_order_acquire)) return;
      if (state.load(std::memory_order_acquire) != kRunning) return;
      futex_wait(&wake_word, seen, kFlushNs);
    }
  }

  // Does what is due and returns how long there is nothing to do.
  std::int64_t step(std::int64_t now_ns) noexcept {
    const Phase phase = collector.phase.load(std::memory_order_acquire);
    if (phase != Phase::kDraining) drain_began_ns_ = 0;
    switch (phase) {
      case Phase::kIdle:
        return kFlushNs;
      case Phase::kOpen:
        // Who opens it may not have the place yet, or not get it: flushing asks all clients of the first interface.
        if (!collector.subscriber.is_subscribed()) return kFlushNs;
        if (is_flush_due(now_ns)) {
          flush_regularly();
          warn_of_silence(now_ns);
          last_flush_ns_ = now_ns;
        }
        return collector.pool.is_scarce() ? kScarceFlushNs : kFlushNs;
      case Phase::kLingering:
        return linger(now_ns);
      case Phase::kDraining:
        return drain(now_ns);
      case Phase::kClosing:
      case Phase::kClosingToOpen:
        break;  // never between two steps
    }
    return kFlushNs;
  }

  bool is_flush_due(std::int64_t now_ns) const noexcept {
    return now_ns - last_flush_ns_ >= (collector.pool.is_scarce() ? kScarceFlushNs : kFlushNs);
  }

  void flush_regularly() noexcept {
    is_flush_asked.store(false, std::memory_order_relaxed);
    collector.library.functions.flush_all(0);
    count_dropped();
    register_gpu_clock(&collector.subscriber);
    if (collector.filler.distrusts_lengths() && !has_told_lengths_) {
      has_told_lengths_ = true;
      publish_status(recording_mode(),
                     "CUPTI's records are not as long as it said, so it walks them itself, which takes longer");
    }
  }

  void count_dropped() noexcept {
    if (const std::uint64_t dropped = collector.subscriber.take_dropped(); dropped > 0) {
      collect::count_drop(Drop::kGpuDropped, dropped);
    }
  }

  // Kinds stay enabled until the window has been closed for a while and all of its segment has come: whoever opens it
  // again meanwhile misses nothing. What the program launches between segments is in no ledger, and not waited for.
  std::int64_t linger(std::int64_t now_ns) noexcept {
    const std::int64_t closed_for_ns = now_ns - collector.closed_ns.load(std::memory_order_acquire);
    const bool is_due = closed_for_ns >= kLingerNs && !collector.keeps_enabled;
    if (is_flush_due(now_ns)) {
      flush_regularly();
      last_flush_ns_ = now_ns;
    } else if (is_due) {
      collector.library.functions.flush_all(0);
    }
    if (collector.keeps_enabled) return kFlushNs;
    if (!is_due) return std::min(kLingerNs - closed_for_ns, kFlushNs);
    const bool has_come = !collector.pool.is_held_since(collector.closed_takes.load(std::memory_order_acquire)) &&
                          collector.pool.unread() == 0 && open_launches() == 0;
    if (!has_come && closed_for_ns < kLingerNs + kDrainNs) return kPollNs;
    if (begin_closing(Phase::kLingering)) {
      stop_collection();
      end_closing(Phase::kDraining);
    }
    return 0;
  }

  // Asks until nothing is missing. What never comes is not waited for longer than kDrainNs.
  std::int64_t drain(std::int64_t now_ns) noexcept {
    if (drain_began_ns_ == 0) drain_began_ns_ = now_ns;
    collector.library.functions.flush_all(0);
    const bool has_come = missing_.is_none();
    if (!has_come && now_ns - drain_began_ns_ < kDrainNs) return kPollNs;
    if (!begin_closing(Phase::kDraining)) return 0;  // it was opened again
    if (!has_come) {
      collector.library.functions.flush_all(abi::kFlushForced);
      wait_until_read(now_ns + kReadNs);
    }
    count_dropped();
    missing_.count();
    register_gpu_clock(&collector.subscriber);
    give_place_back();
    end_closing(Phase::kIdle);
    return 0;
  }

  // CUPTI has ended itself: what it gave back is still read, and what it kept is lost.
  std::int64_t count_once_over(std::int64_t now_ns) noexcept {
    if (!has_counted_end_) {
      has_counted_end_ = true;
      wait_until_read(now_ns + kReadNs);
      missing_.count();
      tell_what_was_before_end();
    }
    return kFlushNs;
  }

  bool begin_closing(Phase from) noexcept {
    last_flush_ns_ = 0;
    return collector.phase.compare_exchange_strong(from, Phase::kClosing, std::memory_order_acq_rel);
  }

  // Whoever waited for long enough has left the opening to us, and may have closed again since.
  static void end_closing(Phase next) noexcept {
    for (;;) {
      Phase expected = Phase::kClosing;
      if (collector.phase.compare_exchange_strong(expected, next, std::memory_order_acq_rel)) break;
      const bool is_enabled = start_collection();
      if (is_enabled) collector.spans.open(read_gpu_clock(&collector.subscriber));
      expected = Phase::kClosingToOpen;
      if (collector.phase.compare_exchange_strong(expected, is_enabled ? Phase::kOpen : Phase::kIdle)) break;
      collector.spans.close(read_gpu_clock(&collector.subscriber));
      stop_collection();
    }
    closings.fetch_add(1, std::memory_order_release);
    futex_wake_all(&closings);
  }

  // Until the drain thread has read what has come.
  static void wait_until_read(std::int64_t deadline_ns) noexcept {
    while (collector.pool.unread() > 0 && clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
      futex_wait(&wake_word, wake_word.load(), kPollNs);
    }
  }

  // Clients of CUPTI that do not subscribe can replace our callbacks without a word. All that shows is that no buffer
  // comes back although NCCL launches.
  void warn_of_silence(std::int64_t now_ns) noexcept {
    const std::uint64_t returns = collector.pool.returns();
    const std::uint64_t launches = collector.launches.load(std::memory_order_relaxed);
    if (returns != last_returns_ || last_return_ns_ == 0) {
      last_returns_ = returns;
      last_return_ns_ = now_ns;
      launches_then_ = launches;
    }
    if (has_warned_ || now_ns - last_return_ns_ < kSilenceNs || launches == launches_then_) return;
    has_warned_ = true;
    publish_status(
        recording_mode(),
        "no GPU records for 10 s while NCCL launched kernels: they may still run, or another client of CUPTI "
        "has put its own buffers in the place of ours");
  }

  // The process ends. A last wait for kernels that still run takes half of the time.
  void finish() noexcept {
    collect::tell_gpu_collector();
    if (collector.subscriber.is_subscribed()) {
      if (!is_dead()) stop_collection();
      const std::int64_t deadline = finish_deadline_ns.load(std::memory_order_acquire);
      const std::int64_t half = (deadline - clock_ns(CLOCK_MONOTONIC)) / 2;
      bool is_complete = false;
      while (!is_complete && !is_dead() && clock_ns(CLOCK_MONOTONIC) < deadline - half) {
        collector.library.functions.flush_all(0);
        is_complete = missing_.is_none();
        if (!is_complete) futex_wait(&wake_word, wake_word.load(), kLastPollNs);
      }
      if (!is_complete) {
        if (!is_dead()) collector.library.functions.flush_all(abi::kFlushForced);
        wait_until_read(deadline - half / 2);
      }
      if (is_dead()) {
        tell_what_was_before_end();
      } else {
        count_dropped();
      }
      if (!has_given_up.exchange(true)) missing_.count();
    }
    state.store(kFinished, std::memory_order_release);
    futex_wake_all(&state);
    collect::wake_for_activities();
  }

  std::int64_t last_flush_ns_ = 0;
  std::int64_t drain_began_ns_ = 0;
  MissingWork missing_;
  std::uint64_t last_returns_ = 0;
  std::int64_t last_return_ns_ = 0;
  std::uint64_t launches_then_ = 0;
  bool has_warned_ = false;
  bool has_counted_end_ = false;
  bool has_told_lengths_ = false;
};

void* flusher_main(void*) {
  prctl(PR_SET_NAME, "jaxprof-cupti");
  Flusher flusher;
  flusher.run();
  return nullptr;
}

}  // namespace

bool start_flusher() noexcept {
  state.store(kRunning, std::memory_order_release);
  if (start_service_thread(flusher_main, nullptr, kStackBytes)) return true;
  state.store(kNotStarted, std::memory_order_release);
  return false;
}

bool wait_while_closing() noexcept {
  const std::int64_t deadline = clock_ns(CLOCK_MONOTONIC) + kClosingNs;
  for (;;) {
    const std::uint32_t seen = closings.load(std::memory_order_acquire);
    if (collector.phase.load(std::memory_order_acquire) != Phase::kClosing) return true;
    const std::int64_t left_ns = deadline - clock_ns(CLOCK_MONOTONIC);
    if (left_ns <= 0) return false;
    futex_wait(&closings, seen, left_ns);
  }
}

void wake_flusher() noexcept {
  wake_word.fetch_add(1, std::memory_order_acq_rel);
  futex_wake_one(&wake_word);
}

void ask_for_flush() noexcept {
  if (!is_flush_asked.exchange(true, std::memory_order_relaxed)) wake_flusher();
}

void ask_flusher_to_tell() noexcept {
  is_asked_to_tell.store(true, std::memory_order_release);
  wake_flusher();
}

void ask_flusher_to_finish(std::uint32_t timeout_ms) noexcept {
  if (is_forked()) return;
  std::int64_t nobody = 0;
  finish_deadline_ns.compare_exchange_strong(
      nobody, clock_ns(CLOCK_MONOTONIC) + std::int64_t{timeout_ms} * kMillisecondNs, std::memory_order_acq_rel);
  std::uint32_t expected = kRunning;
  if (state.compare_exchange_strong(expected, kFinishing)) wake_flusher();
}

bool is_flusher_finished() noexcept {
  if (is_forked() || state.load(std::memory_order_acquire) != kFinishing) return true;
  if (clock_ns(CLOCK_MONOTONIC) < finish_deadline_ns.load(std::memory_order_acquire)) return false;
  if (has_given_up.exchange(true)) return true;
  if (const std::uint32_t open = open_launches(); open > 0) {
    collect::count_drop(Drop::kGpuUnflushed, open);
  }
  write_off_buffers();
  publish_status(recording_mode(),
                 "CUPTI did not come back from its last flush in time; what it still held is missing");
  return true;
}

void finish_flusher(std::uint32_t timeout_ms) noexcept {
  ask_flusher_to_finish(timeout_ms);
  while (!is_flusher_finished()) {
    const std::int64_t left_ns = finish_deadline_ns.load(std::memory_order_acquire) - clock_ns(CLOCK_MONOTONIC);
    if (left_ns > 0) futex_wait(&state, kFinishing, left_ns);
  }
}

}  // namespace jaxprof::cupti

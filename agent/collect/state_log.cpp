#include "agent/collect/state_log.h"

#define XXH_INLINE_ALL
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstring>

#include "agent/base/clocks.h"
#include "agent/collect/event_sink.h"

namespace jaxprof::collect {

namespace detail {
std::atomic<std::uint64_t> step_messages[(1U << kStringBits) / 64];
std::atomic<std::uint64_t> window_messages[(1U << kStringBits) / 64];
static_assert(StateLog::kTableSlots <= 1U << kStringBits);
}  // namespace detail

namespace {

constexpr std::int64_t kLongestWaitNs = 1'000'000'000;
constexpr int kYields = 64;
constexpr std::uint64_t kLogCapacity = StateLog::kSegmentBytes - sizeof(spool::StateLogHeader);

void set_bit(std::atomic<std::uint64_t>* bits, spool::StringId id) noexcept {
  bits[id / 64].fetch_or(std::uint64_t{1} << (id % 64), std::memory_order_relaxed);
}

const char* text_of(const spool::StringState* string) noexcept {
  return reinterpret_cast<const char*>(string + 1);
}

}  // namespace

bool BoundedLock::lock() noexcept {
  const int self = static_cast<int>(syscall(SYS_gettid));
  const std::int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + kLongestWaitNs;
  for (int attempt = 0;; ++attempt) {
    int holder = 0;
    if (holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) return true;
    if (holder == self) return false;
    if (attempt < kYields) {
      sched_yield();
    } else {
      constexpr timespec kPause{0, 50'000};
      nanosleep(&kPause, nullptr);
      if (clock_ns(CLOCK_MONOTONIC) > deadline_ns) return false;
    }
  }
}

bool StateLog::open(spool::MemoryFile* memory, std::uint64_t cap_bytes) noexcept {
  void* table = mmap(nullptr, kTableSlots * sizeof(Slot), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) return false;
  table_ = static_cast<Slot*>(table);
  memory_ = memory;
  cap_bytes_ = cap_bytes;
  return add_segment_locked();  // nobody else knows this log yet
}

const spool::StringState* StateLog::find(std::uint64_t hash, const char* text, std::size_t length,
                                         std::uint32_t* free_slot) const noexcept {
  for (std::uint32_t i = static_cast<std::uint32_t>(hash);; ++i) {
    const Slot& slot = table_[i % kTableSlots];
    const spool::StringState* string = slot.string.load(std::memory_order_acquire);
    if (string == nullptr) {
      *free_slot = i % kTableSlots;
      return nullptr;
    }
    if (slot.hash == hash && string->length == length && std::memcmp(text_of(string), text, length) == 0) {
      return string;
    }
  }
}

spool::StringId StateLog::intern(const char* text, std::size_t length) noexcept {
  if (table_ == nullptr) return spool::kLostString;
  const std::uint64_t hash = XXH3_64bits(text, length);
  std::uint32_t free_slot = 0;
  if (const auto* string = find(hash, text, length, &free_slot); string != nullptr) return string->id;
  if (!lock_.lock()) return spool::kLostString;
  spool::StringId id = spool::kLostString;
  if (const auto* string = find(hash, text, length, &free_slot); string != nullptr) {
    id = string->id;  // another thread was faster
  } else if (string_count_ < kTableSlots / 4 * 3) {
    spool::StringState state{};
    state.id = string_count_ + 1;
    state.length = static_cast<std::uint32_t>(length);
    void* record = append_locked(spool::StateKind::kString, &state, sizeof state, text, length);
    if (record != nullptr) {
      ++string_count_;
      if (steps_ != nullptr && is_step_message(*steps_, {text, length})) set_bit(detail::step_messages, state.id);
      if (window_ != nullptr && is_step_message(*window_, {text, length})) set_bit(detail::window_messages, state.id);
      table_[free_slot].hash = hash;
      table_[free_slot].string.store(static_cast<spool::StringState*>(record), std::memory_order_release);
      id = state.id;
    }
  }
  lock_.unlock();
  return id;
}

bool StateLog::append(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail,
                      std::size_t tail_bytes) noexcept {
  if (table_ == nullptr || !lock_.lock()) return false;
  const void* record = append_locked(kind, fixed, fixed_bytes, tail, tail_bytes);
  lock_.unlock();
  return record != nullptr;
}

void* StateLog::append_locked(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void* tail,
                              std::size_t tail_bytes) noexcept {
  const std::uint64_t bytes = (fixed_bytes + tail_bytes + 7) & ~std::uint64_t{7};
  if (bytes > kLogCapacity) return nullptr;
  spool::StateLogHeader* log = segments_[segment_count_.load(std::memory_order_relaxed) - 1];
  std::uint64_t at = log->committed.load(std::memory_order_relaxed);
  if (at + bytes > kLogCapacity) {
    if (!add_segment_locked()) return nullptr;
    log = segments_[segment_count_.load(std::memory_order_relaxed) - 1];
    at = 0;
  }
  auto* header = static_cast<spool::StateHeader*>(fixed);
  header->kind = static_cast<std::uint16_t>(kind);
  header->reserved = 0;
  header->bytes = static_cast<std::uint32_t>(bytes);
  // The segment is zero from the start, so the padding is.
  std::uint8_t* record = spool::segment_data(log) + at;
  std::memcpy(record, fixed, fixed_bytes);
  if (tail_bytes > 0) std::memcpy(record + fixed_bytes, tail, tail_bytes);
  log->committed.store(at + bytes, std::memory_order_release);
  return record;
}

bool StateLog::add_segment_locked() noexcept {
  const std::uint32_t count = segment_count_.load(std::memory_order_relaxed);
  if (count >= kMaxLogSegments || count * kSegmentBytes >= cap_bytes_) return false;
  void* segment = memory_->add_segment(spool::SegmentKind::kStateLog, kSegmentBytes);
  if (segment == nullptr) return false;
  segments_[count] = static_cast<spool::StateLogHeader*>(segment);
  segment_count_.store(count + 1, std::memory_order_release);
  return true;
}

}  // namespace jaxprof::collect

// The memory that CUPTI writes its records into. CUPTI asks for a buffer on the thread of the job that happens to need
// one, so handing one out may not allocate, lock or wait: all buffers are made beforehand, as one reserved range of
// which the system gives pages as they are used, up to the cap that the user set. CUPTI need not clear them: they are
// zero, and the drain thread clears what was used before they are used again.
//
// When all are in use the request is served from a few small buffers whose records are counted and thrown away. When
// those are in use too, it is refused: CUPTI then counts by itself what it drops. Before 12.9 that crashed it, and it
// is given one that it has already.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jaxprof::cupti {

class BufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 256U << 10;
  static constexpr std::uint32_t kMinBuffers = 4;
  static constexpr std::size_t kDiscardBytes = 64U << 10;
  static constexpr std::uint32_t kDiscardBuffers = 64;

  struct Buffer {
    std::uint8_t* data = nullptr;
    std::size_t valid_bytes = 0;
    std::uint32_t index = 0;
  };

  // Reserves buffers of `cap_bytes` in all, at least kMinBuffers. False without address space for them. Once.
  bool open(std::uint64_t cap_bytes, bool may_refuse) noexcept;

  // A buffer for CUPTI: of the pool, or one to be thrown away, or null. Any thread; lock-free.
  std::uint8_t* take(std::size_t* bytes) noexcept;
  // CUPTI gives `data` back with so many bytes of records. Returns what it was. Any thread; lock-free.
  enum class Returned { kToRead, kEmpty, kDiscarded, kForeign };
  Returned give(std::uint8_t* data, std::size_t valid_bytes) noexcept;
  // A discarded buffer whose records have been counted is cleared and may be handed out again.
  void release_discarded(std::uint8_t* data, std::size_t valid_bytes) noexcept;

  // The oldest buffer with records that has not been read; false if there is none. One thread, as for recycle().
  bool next_to_read(Buffer* buffer) noexcept;
  // `buffer` has been read: clears what CUPTI wrote from `cleared_bytes` on, and lets it have it again.
  void recycle(const Buffer& buffer, std::size_t cleared_bytes = 0) noexcept;

  // How far the reader has cleared the buffer that it reads; to be told before.
  void note_cleared(const Buffer& buffer, std::size_t bytes) noexcept {
    cleared_.store(static_cast<std::uint64_t>(buffer.index) << 32 | bytes, std::memory_order_release);
  }
  // Buffers that were ever handed out are the first of all. Any thread.
  std::uint32_t used_count() const noexcept { return used_.load(std::memory_order_acquire); }
  // What of one has neither been cleared nor looked through, to its end; and how far it has been looked through now,
  // which counts until it is recycled. Any thread.
  struct Unread {
    std::uint8_t* data;
    std::size_t bytes;
    std::uint32_t index;
    std::uint64_t seen;  // of looked_
  };
  Unread unread_part(std::uint32_t index) const noexcept;
  void note_looked(const Unread& part, std::size_t bytes) noexcept;

  std::uint32_t buffer_count() const noexcept { return buffer_count_; }
  // Buffers that CUPTI holds, throw-away ones among them.
  std::uint32_t held_by_cupti() const noexcept { return held_.load(std::memory_order_acquire); }
  // Of these, those that nobody has written off.
  std::uint32_t awaited_from_cupti() const noexcept {
    const std::uint32_t lost = written_off_.load(std::memory_order_acquire);
    const std::uint32_t held = held_by_cupti();
    return held > lost ? held - lost : 0;
  }
  // So many of what is awaited are counted as lost, and no longer awaited. One thread at a time.
  void write_off(std::uint32_t count) noexcept { written_off_.fetch_add(count, std::memory_order_acq_rel); }
  // A buffer comes back. If any are written off it is one of them, whichever it is: true, and one fewer is. Any thread.
  bool take_back_written_off() noexcept {
    std::uint32_t lost = written_off_.load(std::memory_order_acquire);
    while (lost > 0) {
      if (written_off_.compare_exchange_weak(lost, lost - 1, std::memory_order_acq_rel)) return true;
    }
    return false;
  }
  // From 13.0 on CUPTI takes buffers for each thread, and keeps them beyond the thread's end: is half of the pool
  // there?
  bool is_scarce() const noexcept { return 2 * held_by_cupti() >= buffer_count_; }
  // Buffers that came back with records and have not been read.
  std::uint32_t unread() const noexcept { return unread_.load(std::memory_order_acquire); }
  // Buffers that CUPTI has been given so far; does it still hold one of the first `takes`?
  std::uint64_t takes() const noexcept { return takes_.load(std::memory_order_acquire); }
  bool is_held_since(std::uint64_t takes) const noexcept;
  // Counts up whenever CUPTI gives one back.
  std::uint64_t returns() const noexcept { return returns_.load(std::memory_order_relaxed); }

 private:
  // A stack of buffer indices, linked through next_: the tag in the upper half tells a head from an equal one of
  // before.
  std::uint32_t pop(std::atomic<std::uint64_t>* head) noexcept;
  void push(std::atomic<std::uint64_t>* head, std::uint32_t index) noexcept;
  std::uint8_t* data_of(std::uint32_t index) const noexcept;
  bool find(const std::uint8_t* data, std::uint32_t* index) const noexcept;

  std::uint8_t* memory_ = nullptr;  // the pool's buffers, then the ones to be thrown away
  std::size_t memory_bytes_ = 0;
  std::uint32_t buffer_count_ = 0;
  bool may_refuse_ = false;
  std::atomic<std::uint32_t>* next_ = nullptr;  // by index, of the stack that it is in
  std::atomic<std::size_t>* valid_bytes_ = nullptr;
  std::atomic<std::uint64_t>* taken_ = nullptr;  // by index, of the pool: the how manieth it was; 0: not held
  std::atomic<std::uint64_t> free_{0};
  std::atomic<std::uint64_t> free_discards_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t>* looked_ = nullptr;  // by index, of the pool: how often recycled, and bytes looked through
  std::uint32_t to_read_ = 0;                     // completed ones in the order in which they came; the reader's own
  std::atomic<std::uint32_t> held_{0};
  std::atomic<std::uint32_t> written_off_{0};
  std::atomic<std::uint64_t> takes_{0};
  std::atomic<std::uint32_t> unread_{0};
  std::atomic<std::uint64_t> returns_{0};
  std::atomic<std::uint32_t> used_{0};
  std::atomic<std::uint64_t> cleared_{0};  // index and bytes
};

}  // namespace jaxprof::cupti

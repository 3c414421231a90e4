// From CUPTI's completed buffers to the payload of one block: walks the records, has them encoded, and gives the
// buffers back. A block may end in the middle of a buffer; the next one goes on there. Drain thread only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/cupti/activity_encoder.h"
#include "agent/cupti/buffer_pool.h"
#include "agent/cupti/strides.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

class BlockFiller {
 public:
  // Before fill(); all of them stay.
  void open(BufferPool* pool, Strides* strides, ActivityEncoder* encoder, Subscriber* subscriber) noexcept {
    pool_ = pool;
    strides_ = strides;
    encoder_ = encoder;
    subscriber_ = subscriber;
  }

  // Bytes of the payload; 0: there was nothing to tell. `event_count` is of the payload.
  std::size_t fill(std::uint8_t* payload, std::size_t capacity, std::uint64_t* event_count) noexcept;

  // Has a buffer's start shown that records are not as long as was probed? From then on CUPTI walks all. Any thread.
  bool distrusts_lengths() const noexcept { return distrusts_lengths_.load(std::memory_order_acquire); }

 private:
  bool next_buffer() noexcept;
  bool are_lengths_right() noexcept;
  // Records by the known lengths, until there is no room; from where they do not lead on, CUPTI walks.
  void add_by_lengths(spool::EventEncoder* out) noexcept;
  // The next record, found by CUPTI; false if it finds none.
  bool add_by_cupti(spool::EventEncoder* out) noexcept;
  void note_calls() noexcept;
  void clear_to(const std::uint8_t* end) noexcept;
  void end_buffer() noexcept;

  BufferPool* pool_ = nullptr;
  Strides* strides_ = nullptr;
  ActivityEncoder* encoder_ = nullptr;
  Subscriber* subscriber_ = nullptr;
  BufferPool::Buffer buffer_;
  std::size_t at_ = 0;
  std::size_t cleared_ = 0;  // bytes of the buffer, from its start
  bool has_buffer_ = false;
  bool is_walked_by_cupti_ = false;
  std::atomic<bool> distrusts_lengths_{false};
  std::uint8_t* last_record_ = nullptr;  // the last that was found
  std::uint64_t previous_stamp_ = 0;     // of the block before: the next one starts from it
};

}  // namespace jaxprof::cupti

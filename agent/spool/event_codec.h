// Events of one thread, as a block's payload: varints and differences of stamps, about a third of a ring record's size.
//   varint thread, varint first stamp, then per event:
//   u8 kind (top bit: has payload bytes), u8 field count, folded varint stamp - previous stamp, varint id,
//   varint per field, and with payload: varint length, bytes.
// Encoding is agent-safe; decoding checks every bound, for the bytes may come from anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/spool/event_record.h"
#include "agent/spool/varint.h"

namespace jaxprof::spool {

// A kernel of a GPU, as its event's fields (gpu_field); what repeats comes ready to be written.
struct KernelEvent {
  MadeVarint name;
  MadeVarint lane;
  MadeVarint config;
  std::uint64_t start_ns;
  std::uint64_t duration;  // folded
  std::uint32_t correlation;
  std::uint32_t graph;
  std::uint64_t graph_node;
  std::uint32_t channel;
};

// Collects ring records into one payload.
class EventEncoder {
 public:
  // `buffer` is the caller's and at least kMaxEncodedBytes + 32 long.
  EventEncoder(std::uint8_t* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {}
  // An event never takes more than this.
  static constexpr std::size_t kMaxEncodedBytes = 2 + 10 * (kMaxFields + 3) + kMaxPayloadBytes + 16;

  void begin(std::uint32_t thread, std::uint64_t first_stamp) noexcept;
  // Room for one more event of any kind?
  bool has_room() const noexcept { return size_ + kMaxEncodedBytes <= capacity_; }
  // `record` lies in memory that nobody writes any more; its fields are trusted only within kMaxEventBytes.
  void add(const EventHeader& record) noexcept;
  // The same bytes for an event without payload that is not in a ring. Fields at the end that are 0 are left out.
  template <std::size_t kCount>
  void add(EventKind kind, std::uint32_t id, std::uint64_t stamp, const std::uint64_t (&fields)[kCount]) noexcept;
  // The same bytes for a kernel, which is what most events of a job are.
  void add(const KernelEvent& kernel) noexcept;
  // For an event whose stamp means nothing.
  template <std::size_t kCount>
  void add_like_previous(EventKind kind, std::uint32_t id, const std::uint64_t (&fields)[kCount]) noexcept {
    add(kind, id, previous_stamp_, fields);
  }
  std::uint64_t previous_stamp() const noexcept { return previous_stamp_; }
  std::size_t size() const noexcept { return size_; }
  std::uint64_t event_count() const noexcept { return event_count_; }

 private:
  std::uint8_t* buffer_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  std::uint64_t previous_stamp_ = 0;
  std::uint64_t event_count_ = 0;
  CountedVarint correlation_;  // of kernels
  CountedVarint graph_node_;
};

template <std::size_t kCount>
inline void EventEncoder::add(EventKind kind, std::uint32_t id, std::uint64_t stamp,
                              const std::uint64_t (&fields)[kCount]) noexcept {
  static_assert(kCount <= kMaxFields);
  std::uint8_t* out = buffer_ + size_;
  std::uint8_t* head = out;
  *out++ = static_cast<std::uint8_t>(kind);
  ++out;
  out = put_varint_wide(out, fold_sign(static_cast<std::int64_t>(stamp - previous_stamp_)));
  out = put_varint_wide(out, id);
  std::size_t count = kCount;
  while (count > 0 && fields[count - 1] == 0) --count;
    // Each field of a kind has its own code, so that its usual length is foretold.
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i == count) break;
    if (fields[i] < 0x80) {
      *out++ = static_cast<std::uint8_t>(fields[i]);
    } else {
      out = put_varint_wide(out, fields[i]);
    }
  }
  head[1] = static_cast<std::uint8_t>(count);
  size_ = static_cast<std::size_t>(out - buffer_);
  previous_stamp_ = stamp;
  ++event_count_;
}

// One pass without a loop over the fields: almost every kernel has a channel, and times that differ by less than a
// tenth of a second.
__attribute__((always_inline)) inline void EventEncoder::add(const KernelEvent& kernel) noexcept {
  const std::uint64_t difference = fold_sign(static_cast<std::int64_t>(kernel.start_ns - previous_stamp_));
  if ((difference | kernel.duration) >> 28 != 0 || kernel.channel - 1 >= 0x7f) [[unlikely]]
    return add(EventKind::kGpuKernel, kernel.name.value(), kernel.start_ns,
               {kernel.duration, kernel.lane.value(), kernel.correlation, kernel.config.value(), kernel.graph_node,
                kernel.graph, kernel.channel});
  const std::uint64_t times = spread_two_28(difference | kernel.duration << 32);
  constexpr auto kKind = static_cast<unsigned>(EventKind::kGpuKernel);
  constexpr auto kHead = static_cast<std::uint16_t>(kKind | (gpu_field::kKernelChannel + 1) << 8);
  std::uint8_t* out = buffer_ + size_;
  std::memcpy(out, &kHead, sizeof kHead);
  out = put_spread(out + sizeof kHead, static_cast<std::uint32_t>(times));
  out = kernel.name.put(out);
  out = put_spread(out, static_cast<std::uint32_t>(times >> 32));
  out = kernel.lane.put(out);
  out = correlation_.put(out, kernel.correlation);
  out = kernel.config.put(out);
  if ((kernel.graph_node | kernel.graph) != 0) {
    out = graph_node_.put(out, kernel.graph_node);
    out = put_varint_wide(out, kernel.graph);
    *out++ = static_cast<std::uint8_t>(kernel.channel);
  } else {
    const std::uint32_t tail = kernel.channel << 16;
    std::memcpy(out, &tail, sizeof tail);
    out += 3;
  }
  size_ = static_cast<std::size_t>(out - buffer_);
  previous_stamp_ = kernel.start_ns;
  ++event_count_;
}

// One decoded event. `payload` points into the block.
struct Event {
  EventKind kind = EventKind::kPadding;
  std::uint32_t id = 0;
  std::uint64_t stamp = 0;
  std::size_t field_count = 0;
  std::uint64_t fields[kMaxFields] = {};  // zero where the writer had none
  const std::uint8_t* payload = nullptr;
  std::size_t payload_bytes = 0;
};

// Walks a payload. No allocation; never reads outside of it.
class EventDecoder {
 public:
  EventDecoder(const std::uint8_t* payload, std::size_t bytes) noexcept;
  std::uint32_t thread() const noexcept { return thread_; }
  // False at the end of the payload, or where it is damaged; is_damaged() tells which. `event` means nothing then.
  bool next(Event* event) noexcept;
  bool is_damaged() const noexcept { return is_damaged_; }

 private:
  bool stop_damaged() noexcept;  // false

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::uint32_t thread_ = 0;
  std::uint64_t stamp_ = 0;
  bool is_damaged_ = false;
};

}  // namespace jaxprof::spool

#include "agent/cupti/block_filler.h"

#include <algorithm>

#include "agent/collect/event_sink.h"
#include "agent/cupti/status.h"

namespace jaxprof::cupti {
namespace {

// Records come from other processors' caches, or from memory: a record's length is asked for some records ahead.
constexpr std::size_t kPrefetchAhead = 4096;
constexpr std::size_t kPrefetchBytes = 256;
// What has been read is cleared while it is still in the processor's nearest cache, in pieces that are short enough for
// memset() not to use its string instruction, which nothing else runs beside.
constexpr std::size_t kClearBytes = 1024;
// So many records at the start of each buffer are walked by CUPTI too.
constexpr int kCheckedRecords = 4;

}  // namespace

std::size_t BlockFiller::fill(std::uint8_t* payload, std::size_t capacity, std::uint64_t* event_count) noexcept {
  spool::EventEncoder out(payload, capacity);
  out.begin(0, previous_stamp_);
  while (out.has_room()) {
    if (!has_buffer_ && !next_buffer()) break;
    if (!is_walked_by_cupti_) [[likely]] {
      add_by_lengths(&out);
    } else if (!add_by_cupti(&out)) {
      end_buffer();
    }
  }
  previous_stamp_ = out.previous_stamp();
  *event_count = out.event_count();
  return out.event_count() > 0 ? out.size() : 0;
}

void BlockFiller::add_by_lengths(spool::EventEncoder* out) noexcept {
  std::uint8_t* const end = buffer_.data + buffer_.valid_bytes;
  std::uint8_t* at = buffer_.data + at_;
  std::uint8_t* last = last_record_;
  std::uint8_t* clear_at = buffer_.data + cleared_ + kClearBytes;
  while (out->has_room()) {
    const auto left = static_cast<std::size_t>(end - at);
    std::uint32_t kind = 0;
    if (left >= sizeof kind) [[likely]]
      std::memcpy(&kind, at, sizeof kind);
    const std::size_t stride = strides_->of(kind);
    if (stride == 0 || stride > left) [[unlikely]] {
      is_walked_by_cupti_ = left > 0;
      if (left == 0) end_buffer();
      break;
    }
    for (std::size_t line = 0; line < kPrefetchBytes; line += 64) __builtin_prefetch(at + kPrefetchAhead + line);
    if (at >= clear_at) {
      clear_to(last);
      clear_at = last + kClearBytes;
    }
    encoder_->add(kind, {at, stride}, out);
    last = at;
    at += stride;
  }
  at_ = static_cast<std::size_t>(at - buffer_.data);
  last_record_ = last;
}

bool BlockFiller::next_buffer() noexcept {
  encoder_->ledger().forget_if_asked();
  encoder_->graph_launches().forget_if_asked();
  if (!pool_->next_to_read(&buffer_)) return false;
  has_buffer_ = true;
  at_ = 0;
  cleared_ = 0;
  last_record_ = nullptr;
  is_walked_by_cupti_ = !are_lengths_right();
  if (encoder_->leaves_out_others()) note_calls();
  return true;
}

bool BlockFiller::are_lengths_right() noexcept {
  if (distrusts_lengths_.load(std::memory_order_relaxed)) return false;
  void* record = nullptr;
  std::size_t at = 0;
  for (int i = 0; i < kCheckedRecords; ++i) {
    if (subscriber_->next_record(buffer_.data, buffer_.valid_bytes, &record) != abi::kSuccess) return true;
    if (record != buffer_.data + at) {
      distrusts_lengths_.store(true, std::memory_order_release);
      return false;
    }
    std::uint32_t kind = 0;
    std::memcpy(&kind, record, sizeof kind);
    if (strides_->of(kind) == 0) return true;
    at += strides_->of(kind);
  }
  return true;
}

// The record of work may stand before that of the call that started it, and its call decides whether it is kept.
void BlockFiller::note_calls() noexcept {
  std::uint32_t kind = 0;
  if (is_walked_by_cupti_) {
    void* record = nullptr;
    while (subscriber_->next_record(buffer_.data, buffer_.valid_bytes, &record) == abi::kSuccess) {
      std::memcpy(&kind, record, sizeof kind);
      const auto* at = static_cast<const std::uint8_t*>(record);
      const std::size_t left = buffer_.valid_bytes - static_cast<std::size_t>(at - buffer_.data);
      encoder_->note_call(kind, {at, std::min<std::size_t>(strides_->of(kind), left)});
    }
    return;
  }
  for (std::size_t at = 0; at + sizeof kind <= buffer_.valid_bytes;) {
    std::memcpy(&kind, buffer_.data + at, sizeof kind);
    const Record record{buffer_.data + at, strides_->of(kind)};
    if (record.bytes == 0 || record.bytes > buffer_.valid_bytes - at) return;
    encoder_->note_call(kind, record);
    at += record.bytes;
  }
}

// `end` is the last record that was read, from which CUPTI may be asked to go on.
void BlockFiller::clear_to(const std::uint8_t* end) noexcept {
  const auto read = static_cast<std::size_t>(end - buffer_.data);
  pool_->note_cleared(buffer_, read);
  std::memset(buffer_.data + cleared_, 0, read - cleared_);
  cleared_ = read;
}

bool BlockFiller::add_by_cupti(spool::EventEncoder* out) noexcept {
  void* record = last_record_;
  const abi::Result result = subscriber_->next_record(buffer_.data, buffer_.valid_bytes, &record);
  if (result != abi::kSuccess) {
    // Anything but the end: what follows cannot be found.
    if (result != abi::kMaxLimitReached) collect::count_drop(Drop::kGpuUnknownKind);
    return false;
  }
  last_record_ = static_cast<std::uint8_t*>(record);
  std::uint32_t kind = 0;
  std::memcpy(&kind, last_record_, sizeof kind);
  const std::size_t stride = strides_->of(kind);
  const std::size_t left = buffer_.valid_bytes - static_cast<std::size_t>(last_record_ - buffer_.data);
  encoder_->add(kind, {last_record_, std::min(stride, left)}, out);
  return true;
}

void BlockFiller::end_buffer() noexcept {
  has_buffer_ = false;
  pool_->recycle(buffer_, cleared_);
  note_buffer_done();
}

}  // namespace jaxprof::cupti

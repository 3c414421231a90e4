#include "agent/cupti/block_filler.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {

std::size_t BlockFiller::fill(std::uint8_t* payload, std::size_t capacity, std::uint64_t* event_count) noexcept {
  spool::EventEncoder out(payload, capacity);
  out.begin(0, previous_stamp_);
  while (out.has_room()) {
    if (!has_buffer_ && !next_buffer()) break;
    std::uint32_t kind = 0;
    Record record;
    if (next_record(&kind, &record)) {
      encoder_->add(kind, record, &out);
    } else {
      end_buffer();
    }
  }
  previous_stamp_ = out.previous_stamp();
  *event_count = out.event_count();
  return out.event_count() > 0 ? out.size() : 0;
}

bool BlockFiller::next_buffer() noexcept {
  if (!pool_->next_to_read(&buffer_)) return false;
  has_buffer_ = true;
  at_ = 0;
  last_record_ = nullptr;
  is_walked_by_cupti_ = !strides_->fill(buffer_.data, buffer_.valid_bytes);
  if (!is_walked_by_cupti_ && encoder_->leaves_out_others()) note_calls();
  return true;
}

// The record of work may stand before that of the call that started it, and its call decides whether it is kept.
void BlockFiller::note_calls() noexcept {
  for (std::size_t at = 0; at < buffer_.valid_bytes;) {
    std::uint32_t kind = 0;
    std::memcpy(&kind, buffer_.data + at, sizeof kind);
    const Record record{buffer_.data + at, strides_->of(kind)};
    encoder_->note_call(kind, record);
    at += record.bytes;
  }
}

bool BlockFiller::next_record(std::uint32_t* kind, Record* record) noexcept {
  const std::uint8_t* at = buffer_.data + at_;
  if (is_walked_by_cupti_) {
    const abi::Result result = subscriber_->next_record(buffer_.data, buffer_.valid_bytes, &last_record_);
    if (result != abi::kSuccess) {
      // Anything but the end: what follows cannot be found.
      if (result != abi::kMaxLimitReached) collect::count_drop(Drop::kGpuUnknownKind);
      return false;
    }
    at = static_cast<const std::uint8_t*>(last_record_);
    record->bytes = buffer_.valid_bytes - static_cast<std::size_t>(at - buffer_.data);
  } else if (at_ >= buffer_.valid_bytes) {
    return false;
  }
  std::memcpy(kind, at, sizeof *kind);
  record->at = at;
  if (const std::uint32_t stride = strides_->of(*kind);
      !is_walked_by_cupti_ || (stride > 0 && stride < record->bytes)) {
    record->bytes = stride;
  }
  at_ += record->bytes;
  return true;
}

void BlockFiller::end_buffer() noexcept {
  has_buffer_ = false;
  pool_->recycle(buffer_);
}

}  // namespace jaxprof::cupti

#include "agent/spool/event_codec.h"

#include <cstring>

#include "agent/spool/varint.h"

namespace jaxprof::spool {
namespace {
constexpr std::uint8_t kHasPayload = 0x80;
}

void EventEncoder::begin(std::uint32_t thread, std::uint64_t first_stamp) noexcept {
  std::uint8_t* out = put_varint(buffer_, thread);
  out = put_varint(out, first_stamp);
  size_ = static_cast<std::size_t>(out - buffer_);
  previous_stamp_ = first_stamp;
  event_count_ = 0;
}

void EventEncoder::add(const EventHeader& record) noexcept {
  const std::size_t field_count = record.field_count < kMaxFields ? record.field_count : kMaxFields;
  const std::size_t head = sizeof(EventHeader) + 8 * field_count;
  std::size_t payload_bytes = record.bytes > head ? record.bytes - head : 0;
  if (payload_bytes > kMaxPayloadBytes) payload_bytes = kMaxPayloadBytes;
  const auto* fields = reinterpret_cast<const std::uint8_t*>(&record) + sizeof(EventHeader);

  std::uint8_t* out = buffer_ + size_;
  *out++ = static_cast<std::uint8_t>(record.kind | (payload_bytes > 0 ? kHasPayload : 0));
  *out++ = static_cast<std::uint8_t>(field_count);
  out = put_varint(out, fold_sign(static_cast<std::int64_t>(record.stamp - previous_stamp_)));
  out = put_varint(out, record.id);
  for (std::size_t i = 0; i < field_count; ++i) {
    std::uint64_t field;
    std::memcpy(&field, fields + 8 * i, sizeof field);
    out = put_varint(out, field);
  }
  if (payload_bytes > 0) {
    out = put_varint(out, payload_bytes);
    std::memcpy(out, fields + 8 * field_count, payload_bytes);
    out += payload_bytes;
  }
  size_ = static_cast<std::size_t>(out - buffer_);
  previous_stamp_ = record.stamp;
  ++event_count_;
}

EventDecoder::EventDecoder(const std::uint8_t* payload, std::size_t bytes) noexcept
    : at_(payload), end_(payload + bytes) {
  std::uint64_t thread = 0;
  if (!read(&thread) || thread > UINT32_MAX || !read(&stamp_)) {
    is_damaged_ = true;
    at_ = end_;
    return;
  }
  thread_ = static_cast<std::uint32_t>(thread);
}

bool EventDecoder::read(std::uint64_t* value) noexcept {
  const std::uint8_t* next = get_varint(at_, end_, value);
  if (next == nullptr) return false;
  at_ = next;
  return true;
}

bool EventDecoder::next(Event* event) noexcept {
  if (at_ == end_) return false;
  const auto damaged = [this] {
    is_damaged_ = true;
    at_ = end_;
    return false;
  };
  if (end_ - at_ < 2) return damaged();
  const std::uint8_t kind = *at_++;
  const std::uint8_t field_count = *at_++;
  if (field_count > kMaxFields) return damaged();
  std::uint64_t difference = 0;
  std::uint64_t id = 0;
  if (!read(&difference) || !read(&id) || id > UINT32_MAX) return damaged();
  *event = Event{};
  event->kind = static_cast<EventKind>(kind & ~kHasPayload);
  event->id = static_cast<std::uint32_t>(id);
  stamp_ += static_cast<std::uint64_t>(unfold_sign(difference));
  event->stamp = stamp_;
  event->field_count = field_count;
  for (std::size_t i = 0; i < field_count; ++i) {
    if (!read(&event->fields[i])) return damaged();
  }
  if ((kind & kHasPayload) != 0) {
    std::uint64_t bytes = 0;
    if (!read(&bytes) || bytes > kMaxPayloadBytes || bytes > static_cast<std::uint64_t>(end_ - at_)) return damaged();
    event->payload = at_;
    event->payload_bytes = static_cast<std::size_t>(bytes);
    at_ += bytes;
  }
  return true;
}

}  // namespace jaxprof::spool

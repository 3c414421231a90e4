#include "agent/spool/event_codec.h"

#include <cstring>

#include "agent/spool/varint.h"

namespace jaxprof::spool {
namespace {
constexpr std::uint8_t kHasPayload = 0x80;

// get_varint() without its branches, except near the end of a payload.
inline const std::uint8_t* next_varint(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t* value) noexcept {
  if (end - at >= 8) [[likely]] {
    const std::uint8_t* next = get_varint_wide(at, value);
    if (next != nullptr) [[likely]]
      return next;
  }
  return get_varint(at, end, value);
}

}  // namespace

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
  const std::uint8_t* at = get_varint(at_, end_, &thread);
  if (at != nullptr) at = get_varint(at, end_, &stamp_);
  if (at == nullptr || thread > UINT32_MAX) {
    is_damaged_ = true;
    at_ = end_;
    return;
  }
  at_ = at;
  thread_ = static_cast<std::uint32_t>(thread);
}

bool EventDecoder::stop_damaged() noexcept {
  is_damaged_ = true;
  at_ = end_;
  return false;
}

bool EventDecoder::next(Event* event) noexcept {
  if (at_ == end_) return false;
  if (end_ - at_ < 2) return stop_damaged();
  const std::uint8_t* at = at_;
  const std::uint8_t kind = *at++;
  const std::uint8_t field_count = *at++;
  if (field_count > kMaxFields) return stop_damaged();
  std::uint64_t difference = 0;
  std::uint64_t id = 0;
  at = next_varint(at, end_, &difference);
  if (at == nullptr) return stop_damaged();
  at = next_varint(at, end_, &id);
  if (at == nullptr || id > UINT32_MAX) return stop_damaged();
  event->kind = static_cast<EventKind>(kind & ~kHasPayload);
  event->id = static_cast<std::uint32_t>(id);
  stamp_ += static_cast<std::uint64_t>(unfold_sign(difference));
  event->stamp = stamp_;
  event->field_count = field_count;
  for (std::size_t i = 0; i < field_count; ++i) {
    at = next_varint(at, end_, &event->fields[i]);
    if (at == nullptr) return stop_damaged();
  }
  std::memset(event->fields + field_count, 0, (kMaxFields - field_count) * sizeof event->fields[0]);
  event->payload = nullptr;
  event->payload_bytes = 0;
  if ((kind & kHasPayload) != 0) {
    std::uint64_t bytes = 0;
    at = next_varint(at, end_, &bytes);
    if (at == nullptr || bytes > kMaxPayloadBytes || bytes > static_cast<std::uint64_t>(end_ - at)) {
      return stop_damaged();
    }
    event->payload = at;
    event->payload_bytes = static_cast<std::size_t>(bytes);
    at += bytes;
  }
  at_ = at;
  return true;
}

}  // namespace jaxprof::spool

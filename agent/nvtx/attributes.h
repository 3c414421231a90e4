// What the program gives with a range or mark: nvtxEventAttributes_t, a plain text or an array of payloads, behind one
// type, so that whoever only has to know which range it is need not register its message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/nvtx_types.h"
#include "agent/nvtx/registry.h"
#include "agent/spool/state_record.h"

namespace jaxprof::nvtx {

// As given; nothing of it is read yet but the kind of message. Valid during the callback only.
struct Given {
  std::int32_t message_type = NVTX_MESSAGE_UNKNOWN;  // NVTX_MESSAGE_TYPE_*
  nvtxMessageValue_t message = {};
  const nvtxEventAttributes_t* attributes = nullptr;  // null: none, or shorter than what is known here
  const nvtxPayloadData_t* blobs = nullptr;
  std::size_t blob_count = 0;
};

inline Given given(const nvtxEventAttributes_t* from) noexcept {
  Given to;
  if (from == nullptr || from->size < sizeof *from) return to;
  to.message_type = from->messageType;
  to.message = from->message;
  to.attributes = from;
  return to;
}
inline Given given(const char* text) noexcept {
  Given to;
  to.message_type = NVTX_MESSAGE_TYPE_ASCII;
  to.message.ascii = text;
  return to;
}
inline Given given(const wchar_t* text) noexcept {
  Given to;
  to.message_type = NVTX_MESSAGE_TYPE_UNICODE;
  to.message.unicode = text;
  return to;
}
inline Given given(const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  Given to;
  to.blobs = payload;
  to.blob_count = payload != nullptr ? count : 0;
  return to;
}

// What is recorded of it.
struct Attributes {
  spool::StringId message = spool::kNoString;
  std::uint32_t category = 0;
  std::int32_t payload_type = 0;  // NVTX_PAYLOAD_TYPE_*; 0: none
  std::uint64_t payload = 0;      // narrow integers widened by their sign, floats as their bits
  const nvtxPayloadData_t* blobs = nullptr;
  std::size_t blob_count = 0;
};

namespace detail {
// Bits of a basic payload as one word: narrow integers widened by their sign, floats as their bits.
inline std::uint64_t payload_word(const nvtxEventAttributes_t& from) noexcept {
  switch (from.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return from.payload.ullValue;
    case NVTX_PAYLOAD_TYPE_INT64:
      return static_cast<std::uint64_t>(from.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE: {
      std::uint64_t bits;
      std::memcpy(&bits, &from.payload.dValue, sizeof bits);
      return bits;
    }
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return from.payload.uiValue;
    case NVTX_PAYLOAD_TYPE_INT32:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(from.payload.iValue));
    case NVTX_PAYLOAD_TYPE_FLOAT: {
      std::uint32_t bits;
      std::memcpy(&bits, &from.payload.fValue, sizeof bits);
      return bits;
    }
    default:
      return 0;
  }
}

inline spool::StringId intern_message(const Given& from) noexcept {
  switch (from.message_type) {
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return string_of(from.message.registered);
    case NVTX_MESSAGE_TYPE_ASCII:
      return collect::intern(from.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
      return intern_wide(from.message.unicode);
    default:
      return spool::kNoString;
  }
}
}  // namespace detail

// Registers the message, if it is new. Here because every range that is recorded pays for it.
inline Attributes read_attributes(const Given& from) noexcept {
  Attributes to;
  to.message = detail::intern_message(from);
  to.blobs = from.blobs;
  to.blob_count = from.blob_count;
  if (from.attributes == nullptr) return to;
  const nvtxEventAttributes_t& given = *from.attributes;
  to.category = given.category;
  if (given.payloadType == kExtendedPayload) {
    // The caller's memory; copied before the callback returns (nvToolsExtPayload.h).
    to.blobs = reinterpret_cast<const nvtxPayloadData_t*>(static_cast<std::uintptr_t>(given.payload.ullValue));
    to.blob_count = to.blobs != nullptr ? static_cast<std::size_t>(given.reserved0) : 0;
  } else if (given.payloadType != 0) {
    to.payload_type = given.payloadType;
    to.payload = detail::payload_word(given);
  }
  return to;
}

// The integer that comes with a range, if it is one that can be a step's number: what the merge takes for it
// (merge/match/steps).
std::optional<std::int64_t> integer_payload(const Given& from) noexcept;

}  // namespace jaxprof::nvtx

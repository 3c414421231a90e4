// What the program gives with a range or mark: nvtxEventAttributes_t, a plain text or an array of payloads, behind one
// type, so that whoever only has to know which range it is need not register its message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "agent/nvtx/nvtx_types.h"
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

// Registers the message, if it is new.
Attributes read_attributes(const Given& from) noexcept;

// The integer that comes with a range, if it is one that can be a step's number: what the merge takes for it
// (merge/match/steps).
std::optional<std::int64_t> integer_payload(const Given& from) noexcept;

}  // namespace jaxprof::nvtx

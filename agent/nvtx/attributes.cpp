#include "agent/nvtx/attributes.h"

#include <cstring>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/registry.h"

namespace jaxprof::nvtx {
namespace {

// Bits of a basic payload as one word: narrow integers widened by their sign, floats as their bits.
std::uint64_t payload_word(const nvtxEventAttributes_t& from) noexcept {
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

spool::StringId intern_message(const Given& from) noexcept {
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

}  // namespace

Attributes read_attributes(const Given& from) noexcept {
  Attributes to;
  to.message = intern_message(from);
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
    to.payload = payload_word(given);
  }
  return to;
}

std::optional<std::int64_t> integer_payload(const Given& from) noexcept {
  if (from.attributes == nullptr) return std::nullopt;
  const auto value = static_cast<std::int64_t>(payload_word(*from.attributes));
  switch (from.attributes->payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return value >= 0 ? std::optional(value) : std::nullopt;
    case NVTX_PAYLOAD_TYPE_INT64:
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
    case NVTX_PAYLOAD_TYPE_INT32:
      return value != INT64_MIN ? std::optional(value) : std::nullopt;  // the run file's "missing"
    default:
      return std::nullopt;
  }
}

}  // namespace jaxprof::nvtx

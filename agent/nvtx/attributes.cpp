#include "agent/nvtx/attributes.h"

namespace jaxprof::nvtx {

std::optional<std::int64_t> integer_payload(const Given& from) noexcept {
  if (from.attributes == nullptr) return std::nullopt;
  const auto value = static_cast<std::int64_t>(detail::payload_word(*from.attributes));
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

// What NVTX registers before it is used: domains, strings, schemas, categories, thread and resource names. The handles
// that we return are numbers in a pointer's clothes, so a stale or foreign one can be recognised, and is never
// followed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/nvtx_types.h"
#include "agent/spool/state_record.h"

namespace jaxprof::nvtx {

namespace detail {
// Handles are these tags plus a number.
inline constexpr std::uintptr_t kDomainTag = 0x4a58'0000'0000;
inline constexpr std::uintptr_t kStringTag = 0x4a59'0000'0000;
inline constexpr std::uintptr_t kNumberMask = 0xffff'ffff;

template <typename Handle>
std::uint32_t number_of(Handle handle, std::uintptr_t tag) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return (value & ~kNumberMask) == tag ? static_cast<std::uint32_t>(value & kNumberMask) : 0;
}
}  // namespace detail

// The domain's number for `handle`; 0, the default domain, for null and for handles that we never gave.
inline std::uint16_t domain_number(nvtxDomainHandle_t handle) noexcept {
  const std::uint32_t number = detail::number_of(handle, detail::kDomainTag);
  return number < collect::kMaxDomains ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}
// The id behind a registered string's handle; kNoString for one that we never gave.
inline spool::StringId string_of(nvtxStringHandle_t handle) noexcept {
  return detail::number_of(handle, detail::kStringTag);
}
// A wide string as UTF-8.
spool::StringId intern_wide(const wchar_t* text) noexcept;
// Bytes of a payload whose caller left the size to the schema (SIZE_MAX); 0 if the schema does not say.
std::size_t static_payload_bytes(std::uint64_t schema) noexcept;

// The callbacks, with NVTX's signatures. Any thread.
nvtxDomainHandle_t create_domain(const char* name) noexcept;
nvtxDomainHandle_t create_domain_wide(const wchar_t* name) noexcept;
nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char* text) noexcept;
nvtxStringHandle_t register_string_wide(nvtxDomainHandle_t domain, const wchar_t* text) noexcept;
std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) noexcept;
std::uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept;
void name_category(nvtxDomainHandle_t domain, std::uint32_t category, spool::StringId name) noexcept;
void name_thread(std::uint32_t tid, spool::StringId name) noexcept;
nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes) noexcept;

}  // namespace jaxprof::nvtx

// NVTX's own declarations, without its implementation: types, callback numbers and signatures. Only this folder
// includes them.
#pragma once

#define NVTX_NO_IMPL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#pragma GCC diagnostic pop

#include <cstddef>
#include <cstdint>

namespace jaxprof::nvtx {

// The payload extension's module and slot numbers (NVTX3EXT_CBID_* in nvtxExtImplPayload_v1.h, which cannot be included
// without the implementation).
inline constexpr std::uint16_t kPayloadModule = 2;
enum class PayloadSlot : std::size_t {
  kSchemaRegister = 0,
  kEnumRegister = 1,
  kMarkPayload = 2,
  kRangePushPayload = 3,
  kRangePopPayload = 4,
  kRangeStartPayload = 5,
  kRangeEndPayload = 6,
};

// payloadType of an attribute whose payload is an array of nvtxPayloadData_t; `reserved0` is its length.
inline constexpr std::int32_t kExtendedPayload = static_cast<std::int32_t>(0xDFBD0009U);

// What the extension's initialiser is given (nvtxExtTypes.h).
struct ExtensionSegment {
  std::size_t id;
  std::size_t slot_count;
  std::intptr_t* slots;
};
struct ExtensionModule {
  std::uint16_t nvtx_version;
  std::uint16_t struct_bytes;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t segment_count;
  ExtensionSegment* segments;
  std::intptr_t (*get_export_function)(std::uint32_t);
  const void* extension;
};
static_assert(sizeof(ExtensionSegment) == 24 && sizeof(ExtensionModule) == 40);

// What getExportTable(NVTX_ETID_CALLBACKS) returns: a size and a function that gives a module's slots.
struct CallbacksTable {
  std::size_t struct_bytes;
  int (*get_module_function_table)(std::uint32_t module, void**** table, unsigned* size);
};

}  // namespace jaxprof::nvtx

// What NVTX 3 hands to the library that NVTX_INJECTION64_PATH names, written down in our own words: the program's
// function slots come in two tables, one through InitializeInjectionNvtx2 (the core calls) and one through
// InitializeInjectionNvtxExtension (the payload calls). The slot numbers are the ABI. Only what the recorder uses is
// here; the NVTX headers are not included, so that a mistake in reading them cannot cancel out in a test.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::doubles::nvtx {

// ---- core ------------------------------------------------------------------------------------------------------
struct CallbackTable {
  std::size_t struct_size;
  int (*module_functions)(int module, void**** slots, unsigned* n_slots);  // array of pointers to slots
};
using GetExportTable = const void* (*)(std::uint32_t table);
inline constexpr std::uint32_t kCallbackTable = 1;
inline constexpr int kModuleCore = 1;   // the default domain
inline constexpr int kModuleCore2 = 5;  // calls that name a domain

enum CoreSlot : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
};
enum Core2Slot : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kResourceCreate,
  kResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kRegisterStringA,
  kRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
};

// Event attributes, version 3. message_type: 1 ASCII, 2 wide, 3 registered string.
struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t n_payloads;  // for kPayloadExtension: how many Payload structs `payload` points to
  std::uint64_t payload;
  std::int32_t message_type;
  std::uint64_t message;
};
static_assert(sizeof(EventAttributes) == 48 && offsetof(EventAttributes, payload) == 24 &&
              offsetof(EventAttributes, message) == 40);
inline constexpr std::int32_t kPayloadExtension = static_cast<std::int32_t>(0xDFBD0009U);

struct ResourceAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::int32_t identifier_type;
  std::uint64_t identifier;
  std::int32_t message_type;
  std::uint64_t message;
};
static_assert(sizeof(ResourceAttributes) == 32 && offsetof(ResourceAttributes, message) == 24);

// ---- payload extension -------------------------------------------------------------------------------------------
struct Segment {
  std::size_t id;
  std::size_t n_slots;
  std::intptr_t* slots;
};
struct ModuleInfo {
  std::uint16_t nvtx_version;
  std::uint16_t struct_size;
  std::uint16_t module;
  std::uint16_t compatibility;
  std::size_t n_segments;
  Segment* segments;
  void* export_function;
  const void* type_sizes;
};
static_assert(sizeof(ModuleInfo) == 40);
inline constexpr std::uint16_t kModulePayload = 2;

enum PayloadSlot : unsigned {
  kSchemaRegister = 0,
  kEnumRegister,
  kMarkPayload,
  kRangePushPayload,
  kRangePopPayload,
  kRangeStartPayload,
  kRangeEndPayload,
  kDomainIsEnabled,
};

struct Payload {
  std::uint64_t schema;
  std::size_t size;  // SIZE_MAX: the tool has to find out
  const void* data;
};
struct SchemaEntry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t array_length;
  std::uint64_t offset;
  const void* semantics;
  const void* reserved;
};
static_assert(sizeof(SchemaEntry) == 64);
struct Schema {
  std::uint64_t field_mask;
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const SchemaEntry* entries;
  std::size_t n_entries;
  std::size_t static_size;
  std::size_t alignment;
  std::uint64_t id;
  void* extension;
};
static_assert(sizeof(Schema) == 80);
inline constexpr std::uint64_t kSchemaHasName = 1U << 1U;
inline constexpr std::uint64_t kSchemaHasId = 1U << 8U;
struct EnumEntry {
  const char* name;
  std::uint64_t value;
  std::int8_t is_flag;
};
struct Enum {
  std::uint64_t field_mask;
  const char* name;
  const EnumEntry* entries;
  std::size_t n_entries;
  std::size_t size_bytes;
  std::uint64_t id;
  void* extension;
};
static_assert(sizeof(Enum) == 56);
inline constexpr std::uint64_t kEnumHasName = 1U << 1U;
inline constexpr std::uint64_t kEnumHasId = 1U << 5U;

}  // namespace jaxprof::doubles::nvtx

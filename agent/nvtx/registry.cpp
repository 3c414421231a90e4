#include "agent/nvtx/registry.h"

#include <atomic>
#include <cstring>
#include <string_view>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/domains.h"
#include "agent/nvtx/nccl_ordinals.h"

namespace jaxprof::nvtx {
namespace {

using collect::append_state;
using collect::intern;

using detail::kDomainTag;
using detail::kStringTag;

// Domains by name: every copy of NVTX in the process creates its own, and they are one.
std::atomic<std::uint32_t> domain_count{0};
std::atomic<spool::StringId> domain_names[collect::kMaxDomains];  // of domain i + 1

constexpr std::size_t kSchemaSlots = 1024;
struct SchemaSize {
  std::atomic<std::uint64_t> schema;
  std::atomic<std::size_t> bytes;
};
SchemaSize schema_sizes[kSchemaSlots];
std::atomic<std::uint64_t> next_schema{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};

constexpr std::size_t kMaxEntries = 256;

template <typename Handle>
Handle make_handle(std::uintptr_t tag, std::uint32_t number) noexcept {
  return reinterpret_cast<Handle>(tag | number);
}

nvtxDomainHandle_t domain_named(std::string_view text, bool has_name) noexcept {
  const spool::StringId name = has_name ? intern(text.data(), text.size()) : spool::kNoString;
  // A lost race makes two numbers of one name, which the merge joins again by the name.
  const std::uint32_t known = domain_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < known && i < collect::kMaxDomains - 1; ++i) {
    if (domain_names[i].load(std::memory_order_acquire) == name && name != spool::kLostString &&
        name != spool::kNoString) {
      note_domain(static_cast<std::uint16_t>(i + 1), text);  // whoever made it may not have come so far
      return make_handle<nvtxDomainHandle_t>(kDomainTag, i + 1);
    }
  }
  const std::uint32_t index = domain_count.fetch_add(1, std::memory_order_acq_rel);
  if (index >= collect::kMaxDomains - 1) {
    collect::count_drop(Drop::kStateLogFull);
    return make_handle<nvtxDomainHandle_t>(kDomainTag, 0);  // its events go to the default domain
  }
  note_domain(static_cast<std::uint16_t>(index + 1), text);
  domain_names[index].store(name, std::memory_order_release);
  spool::DomainState state{};
  state.domain = index + 1;
  state.name = name;
  append_state(spool::StateKind::kDomain, &state, sizeof state);
  return make_handle<nvtxDomainHandle_t>(kDomainTag, index + 1);
}

void remember_size(std::uint64_t schema, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < kSchemaSlots; ++i) {
    SchemaSize& slot = schema_sizes[(schema + i) % kSchemaSlots];
    std::uint64_t expected = 0;
    if (slot.schema.compare_exchange_strong(expected, schema) || expected == schema) {
      slot.bytes.store(bytes, std::memory_order_release);
      return;
    }
  }
}

// A wide string as UTF-8 in `utf8`; its length. What does not fit is cut and counted.
constexpr std::size_t kMaxWideBytes = 4096;
std::size_t to_utf8(const wchar_t* text, char (&utf8)[kMaxWideBytes]) noexcept {
  std::size_t length = 0;
  for (; *text != L'\0' && length + 4 <= sizeof utf8; ++text) {
    static_assert(sizeof *text == sizeof(char32_t));
    char32_t c = 0;
    std::memcpy(&c, text, sizeof c);
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    if (c < 0x80) {
      utf8[length++] = static_cast<char>(c);
    } else if (c < 0x800) {
      utf8[length++] = static_cast<char>(0xc0 | (c >> 6));
      utf8[length++] = static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      utf8[length++] = static_cast<char>(0xe0 | (c >> 12));
      utf8[length++] = static_cast<char>(0x80 | ((c >> 6) & 0x3f));
      utf8[length++] = static_cast<char>(0x80 | (c & 0x3f));
    } else {
      utf8[length++] = static_cast<char>(0xf0 | (c >> 18));
      utf8[length++] = static_cast<char>(0x80 | ((c >> 12) & 0x3f));
      utf8[length++] = static_cast<char>(0x80 | ((c >> 6) & 0x3f));
      utf8[length++] = static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  if (*text != L'\0') collect::count_drop(Drop::kPayloadTruncated);
  return length;
}

std::uint64_t choose_schema_id(bool is_given, std::uint64_t given) noexcept {
  return is_given && given != 0 ? given : next_schema.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

spool::StringId intern_wide(const wchar_t* text) noexcept {
  if (text == nullptr) return spool::kNoString;
  char utf8[kMaxWideBytes];
  return intern(utf8, to_utf8(text, utf8));
}

std::size_t static_payload_bytes(std::uint64_t schema) noexcept {
  for (std::size_t i = 0; i < kSchemaSlots; ++i) {
    const SchemaSize& slot = schema_sizes[(schema + i) % kSchemaSlots];
    const std::uint64_t present = slot.schema.load(std::memory_order_acquire);
    if (present == schema) return slot.bytes.load(std::memory_order_acquire);
    if (present == 0) return 0;
  }
  return 0;
}

nvtxDomainHandle_t create_domain(const char* name) noexcept {
  return domain_named(name != nullptr ? name : "", name != nullptr);
}

nvtxDomainHandle_t create_domain_wide(const wchar_t* name) noexcept {
  if (name == nullptr) return domain_named("", false);
  char utf8[kMaxWideBytes];
  return domain_named({utf8, to_utf8(name, utf8)}, true);
}

nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) noexcept {
  return make_handle<nvtxStringHandle_t>(kStringTag, intern(text));
}

nvtxStringHandle_t register_string_wide(nvtxDomainHandle_t, const wchar_t* text) noexcept {
  return make_handle<nvtxStringHandle_t>(kStringTag, intern_wide(text));
}

std::uint64_t register_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) noexcept {
  if (schema == nullptr) return NVTX_PAYLOAD_ENTRY_TYPE_INVALID;
  const auto has = [schema](std::uint64_t bit) { return (schema->fieldMask & bit) != 0; };
  spool::SchemaState state{};
  state.domain = domain_number(domain);
  state.schema = choose_schema_id(has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID), schema->schemaId);
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE)) state.type = schema->type;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS)) state.flags = schema->flags;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) state.payload_bytes = schema->payloadStaticSize;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) state.alignment = schema->packAlign;
  if (has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME)) state.name = intern(schema->name);
  spool::SchemaEntry entries[kMaxEntries];
  const bool has_entries =
      has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) && has(NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
  const std::size_t given = has_entries && schema->entries != nullptr ? schema->numEntries : 0;
  const std::size_t count = given < kMaxEntries ? given : kMaxEntries;
  if (count < given) collect::count_drop(Drop::kPayloadTruncated);
  for (std::size_t i = 0; i < count; ++i) {
    const nvtxPayloadSchemaEntry_t& from = schema->entries[i];
    entries[i] = {from.flags, from.type, from.arrayOrUnionDetail, from.offset, intern(from.name), 0};
  }
  state.entry_count = static_cast<std::uint32_t>(count);
  remember_size(state.schema, state.payload_bytes);
  if (is_nccl_domain(uses_of(static_cast<std::uint16_t>(state.domain))))
    note_nccl_schema(state.schema, schema->entries, count);
  append_state(spool::StateKind::kSchema, &state, sizeof state, entries, count * sizeof entries[0]);
  return state.schema;
}

std::uint64_t register_enum(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* attributes) noexcept {
  if (attributes == nullptr) return NVTX_PAYLOAD_ENTRY_TYPE_INVALID;
  const auto has = [attributes](std::uint64_t bit) { return (attributes->fieldMask & bit) != 0; };
  spool::EnumState state{};
  state.domain = domain_number(domain);
  state.schema = choose_schema_id(has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID), attributes->schemaId);
  if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)) state.value_bytes = attributes->sizeOfEnum;
  if (has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME)) state.name = intern(attributes->name);
  spool::EnumEntry entries[kMaxEntries];
  const bool has_entries = has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) && has(NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES);
  const std::size_t given = has_entries && attributes->entries != nullptr ? attributes->numEntries : 0;
  const std::size_t count = given < kMaxEntries ? given : kMaxEntries;
  if (count < given) collect::count_drop(Drop::kPayloadTruncated);
  for (std::size_t i = 0; i < count; ++i) {
    const nvtxPayloadEnum_t& from = attributes->entries[i];
    entries[i] = {from.value, intern(from.name), from.isFlag != 0 ? 1U : 0U};
  }
  state.entry_count = static_cast<std::uint32_t>(count);
  append_state(spool::StateKind::kEnum, &state, sizeof state, entries, count * sizeof entries[0]);
  return state.schema;
}

void name_category(nvtxDomainHandle_t domain, std::uint32_t category, spool::StringId name) noexcept {
  spool::CategoryState state{};
  state.domain = domain_number(domain);
  state.category = category;
  state.name = name;
  append_state(spool::StateKind::kCategory, &state, sizeof state);
}

void name_thread(std::uint32_t tid, spool::StringId name) noexcept {
  spool::ThreadNameState state{};
  state.tid = tid;
  state.name = name;
  append_state(spool::StateKind::kThreadName, &state, sizeof state);
}

nvtxResourceHandle_t create_resource(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* attributes) noexcept {
  if (attributes == nullptr || attributes->size < sizeof *attributes) return nullptr;
  spool::ResourceState state{};
  state.domain = domain_number(domain);
  state.type = static_cast<std::uint32_t>(attributes->identifierType);
  state.identifier = attributes->identifier.ullValue;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      state.name = intern(attributes->message.ascii);
      break;
    case NVTX_MESSAGE_TYPE_UNICODE:
      state.name = intern_wide(attributes->message.unicode);
      break;
    case NVTX_MESSAGE_TYPE_REGISTERED:
      state.name = string_of(attributes->message.registered);
      break;
    default:
      break;
  }
  append_state(spool::StateKind::kResource, &state, sizeof state);
  return nullptr;
}

}  // namespace jaxprof::nvtx

// Scenarios of a program that uses NVTX, through the slots that the agent filled.
#include <random>
#include <string>
#include <vector>

#include "tests/unit/collect/child_program.h"
#include "tests/unit/nvtx/fake_nvtx.h"

namespace jaxprof::test {
namespace {

using nvtx::PayloadSlot;
using PushPayload = int (*)(nvtxDomainHandle_t, const nvtxPayloadData_t*, std::size_t);
using RegisterSchema = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
using RegisterEnum = std::uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadEnumAttr_t*);

void tables() {
  FakeNvtx full;
  report("result", full.initialize());
  report("core", static_cast<std::int64_t>(full.filled_core()));
  report("core2", static_cast<std::int64_t>(full.filled_core2()));
  FakeNvtx old(NVTX_CBID_CORE_RangePop, NVTX_CBID_CORE2_DomainMarkEx + 1);
  report("old_result", old.initialize());
  report("old_core", static_cast<std::int64_t>(old.filled_core()));
  report("old_core2", static_cast<std::int64_t>(old.filled_core2()));
  FakeNvtx larger(NVTX_CBID_CORE_SIZE + 40, NVTX_CBID_CORE2_SIZE + 40);
  larger.initialize();
  report("larger_core", static_cast<std::int64_t>(larger.filled_core()));
}

void extensions() {
  for (const std::size_t slots : {std::size_t{0}, std::size_t{2}, std::size_t{63}}) {
    FakeExtension extension(slots);
    report("result" + std::to_string(slots), extension.initialize());
    report("filled" + std::to_string(slots), static_cast<std::int64_t>(extension.filled()));
  }
  FakeExtension other_module(63);
  other_module.initialize(nvtx::kPayloadModule + 1);
  report("other_module", static_cast<std::int64_t>(other_module.filled()));
  FakeExtension other_segment(63);
  other_segment.initialize(nvtx::kPayloadModule, 1);
  report("other_segment", static_cast<std::int64_t>(other_segment.filled()));
}

void depths() {
  FakeNvtx nvtx;
  nvtx.initialize();
  const nvtxDomainHandle_t a = nvtx.create_domain("a");
  const nvtxDomainHandle_t b = nvtx.create_domain("b");
  report("pop_of_nothing", nvtx.pop(a));
  report("push_a0", nvtx.push(a, attributes_of("a0")));
  report("push_a1", nvtx.push(a, attributes_of("a1")));
  report("push_b0", nvtx.push(b, attributes_of("b0")));
  report("pop_a1", nvtx.pop(a));
  report("pop_a0", nvtx.pop(a));
  report("pop_a_again", nvtx.pop(a));
  report("pop_b0", nvtx.pop(b));
  report("push_default", nvtx.push(nullptr, attributes_of("default")));
  report("pop_default", nvtx.pop(nullptr));
  report("push_foreign", nvtx.push(reinterpret_cast<nvtxDomainHandle_t>(0x1234), attributes_of("foreign")));
  report("pop_foreign", nvtx.pop(reinterpret_cast<nvtxDomainHandle_t>(0x1234)));
}

void attributes() {
  FakeNvtx nvtx;
  nvtx.initialize();
  const nvtxDomainHandle_t domain = nvtx.create_domain("d");
  nvtxEventAttributes_t small = attributes_of("not read");
  small.size = sizeof small - 1;
  nvtx.push(domain, small);
  nvtx.pop(domain);
  nvtxEventAttributes_t null_message = attributes_of(nullptr);
  null_message.category = 9;
  null_message.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  null_message.payload.iValue = -5;
  nvtx.push(domain, null_message);
  nvtx.pop(domain);
  nvtxEventAttributes_t odd = attributes_of("odd");
  odd.messageType = 77;
  odd.payloadType = 78;
  nvtx.push(domain, odd);
  nvtx.pop(domain);
  nvtxEventAttributes_t registered = attributes_of("");
  registered.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  registered.message.registered = nvtx.register_string(domain, "registered once");
  nvtx.push(domain, registered);
  nvtx.pop(domain);
  registered.message.registered = reinterpret_cast<nvtxStringHandle_t>(0xdeadbeef);
  nvtx.push(domain, registered);
  nvtx.pop(domain);
  nvtxEventAttributes_t wide = attributes_of("");
  wide.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  wide.message.unicode = L"\u00e9\u20ac\U0001f600";
  nvtx.push(domain, wide);
  nvtx.pop(domain);
  const std::wstring long_text(6000, L'w');
  wide.message.unicode = long_text.c_str();
  nvtx.push(domain, wide);
  nvtx.pop(domain);
  using Push = int (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
  report("null_attributes", nvtx.core2<Push>(NVTX_CBID_CORE2_DomainRangePushEx)(domain, nullptr));
  nvtx.pop(domain);
}

void core_calls() {
  FakeNvtx nvtx;
  nvtx.initialize();
  report("push", nvtx.core<int (*)(const char*)>(NVTX_CBID_CORE_RangePushA)("plain"));
  report("push_null", nvtx.core<int (*)(const char*)>(NVTX_CBID_CORE_RangePushA)(nullptr));
  report("pop_null", nvtx.core<int (*)()>(NVTX_CBID_CORE_RangePop)());
  report("pop", nvtx.core<int (*)()>(NVTX_CBID_CORE_RangePop)());
  report("pop_more", nvtx.core<int (*)()>(NVTX_CBID_CORE_RangePop)());
  nvtx.core<void (*)(const wchar_t*)>(NVTX_CBID_CORE_MarkW)(L"mark");
  nvtx.core<void (*)(const wchar_t*)>(NVTX_CBID_CORE_MarkW)(nullptr);
  const auto id = nvtx.core<nvtxRangeId_t (*)(const char*)>(NVTX_CBID_CORE_RangeStartA)("long");
  const auto other = nvtx.core<nvtxRangeId_t (*)(const char*)>(NVTX_CBID_CORE_RangeStartA)("long");
  report("ids_differ", id != other && id != 0 && other != 0);
  nvtx.core<void (*)(nvtxRangeId_t)>(NVTX_CBID_CORE_RangeEnd)(id);
  nvtx.core<void (*)(std::uint32_t, const char*)>(NVTX_CBID_CORE_NameCategoryA)(4, "four");
  nvtx.core<void (*)(std::uint32_t, const char*)>(NVTX_CBID_CORE_NameOsThreadA)(1, "main");
}

void same_domain_twice() {
  FakeNvtx first;
  FakeNvtx second;
  first.initialize();
  second.initialize();
  report("same", first.create_domain("NCCL") == second.create_domain("NCCL"));
  report("other", first.create_domain("NCCL") == second.create_domain("other"));
  report("null_is_new", first.create_domain(nullptr) != first.create_domain(nullptr));
}

void payloads() {
  FakeNvtx nvtx;
  nvtx.initialize();
  FakeExtension extension(63);
  extension.initialize();
  const nvtxDomainHandle_t domain = nvtx.create_domain("NCCL");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "root", nullptr, 0, 8, nullptr, nullptr}};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = 16;
  const std::uint64_t id = extension.slot<RegisterSchema>(PayloadSlot::kSchemaRegister)(domain, &schema);
  report("schema", static_cast<std::int64_t>(id));

  const auto push = extension.slot<PushPayload>(PayloadSlot::kRangePushPayload);
  const auto pop = extension.slot<PushPayload>(PayloadSlot::kRangePopPayload);
  struct {
    std::uint64_t bytes = 4096;
    std::int32_t root = -3;
    std::int32_t pad = 0;
  } values;
  nvtxPayloadData_t data{id, sizeof values, &values};
  report("push", push(domain, &data, 1));
  report("pop", pop(domain, nullptr, 0));
  data.size = SIZE_MAX;  // "as the schema says"
  push(domain, &data, 1);
  pop(domain, &data, 1);
  data = {id, 8, nullptr};
  push(domain, &data, 1);
  pop(domain, nullptr, 0);
  push(domain, nullptr, 3);
  pop(domain, nullptr, 0);
  const std::vector<char> large(10'000, 'L');
  data = {id, large.size(), large.data()};
  push(domain, &data, 1);
  pop(domain, nullptr, 0);
  const std::vector<nvtxPayloadData_t> many(40, nvtxPayloadData_t{id, 8, large.data()});
  push(domain, many.data(), many.size());
  pop(domain, nullptr, 0);
  nvtxEventAttributes_t attributes = attributes_of("with payload");
  data = {id, sizeof values, &values};
  attributes.payloadType = nvtx::kExtendedPayload;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&data);
  nvtx.push(domain, attributes);
  nvtx.pop(domain);
  attributes.payload.ullValue = 0;
  nvtx.push(domain, attributes);
  nvtx.pop(domain);
}

// Nested ranges faster than the ring takes them. Each push and its pop carry the range's number as a payload, so that
// whoever pairs them can be checked.
void lossy_ranges() {
  FakeNvtx nvtx;
  nvtx.initialize();
  FakeExtension extension(63);
  extension.initialize();
  const nvtxDomainHandle_t domain = nvtx.create_domain("lib");
  const nvtxPayloadSchemaEntry_t entry = {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", nullptr, 0, 0, nullptr, nullptr};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.entries = &entry;
  schema.numEntries = 1;
  const std::uint64_t id = extension.slot<RegisterSchema>(PayloadSlot::kSchemaRegister)(domain, &schema);
  const auto push = extension.slot<PushPayload>(PayloadSlot::kRangePushPayload);
  const auto pop = extension.slot<PushPayload>(PayloadSlot::kRangePopPayload);
  std::mt19937 random(11);
  std::vector<std::uint64_t> open;
  std::uint64_t next = 0;
  for (int i = 0; i < 100'000 || !open.empty(); ++i) {
    const bool is_push = i < 100'000 && (open.empty() || (open.size() < 8 && random() % 2 == 0));
    if (is_push) open.push_back(++next);
    const nvtxPayloadData_t data{id, sizeof open.back(), &open.back()};
    (is_push ? push : pop)(domain, &data, 1);
    if (!is_push) open.pop_back();
  }
  report("ranges", static_cast<std::int64_t>(next));
}

// Masks that promise fields that are not there, and the other way round.
void odd_schemas() {
  FakeNvtx nvtx;
  nvtx.initialize();
  FakeExtension extension(63);
  extension.initialize();
  const auto register_schema = extension.slot<RegisterSchema>(PayloadSlot::kSchemaRegister);
  const auto register_enum = extension.slot<RegisterEnum>(PayloadSlot::kEnumRegister);
  report("null", static_cast<std::int64_t>(register_schema(nullptr, nullptr)));
  nvtxPayloadSchemaAttr_t schema{};
  schema.numEntries = 1'000'000;
  schema.entries = reinterpret_cast<const nvtxPayloadSchemaEntry_t*>(0x10);  // not in the mask: not followed
  schema.name = reinterpret_cast<const char*>(0x20);
  schema.schemaId = 5;
  const std::uint64_t first = register_schema(nullptr, &schema);
  report("dynamic", first >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  report("next", register_schema(nullptr, &schema) != first);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES;
  register_schema(nullptr, &schema);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.entries = nullptr;
  schema.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;
  report("static", register_schema(nullptr, &schema) == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7);
  const std::vector<nvtxPayloadSchemaEntry_t> many(300);
  schema.entries = many.data();
  schema.numEntries = many.size();
  register_schema(nullptr, &schema);
  nvtxPayloadEnumAttr_t enumeration{};
  enumeration.entries = reinterpret_cast<const nvtxPayloadEnum_t*>(0x30);
  enumeration.numEntries = 3;
  report("enum", register_enum(nullptr, &enumeration) >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  report("null_enum", static_cast<std::int64_t>(register_enum(nullptr, nullptr)));
}

constexpr Scenario kScenarios[] = {
    {"tables", tables},         {"extensions", extensions},   {"depths", depths},
    {"attributes", attributes}, {"core_calls", core_calls},   {"same_domain_twice", same_domain_twice},
    {"payloads", payloads},     {"odd_schemas", odd_schemas}, {"lossy_ranges", lossy_ranges},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test

#include "tests/puppets/nvtx_scenarios.h"

#include <unistd.h>

#include <array>
#include <bit>
#include <memory>
#include <thread>

#include "tests/puppets/nvtx_emitter.h"

namespace jaxprof::puppets {
namespace {

constexpr int kFew = 10;

// Runs `body(i)` on `n` threads at the same time and waits for them.
template <typename Body>
void on_threads(int n, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) {
    threads.emplace_back(body, i);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// The calls without a domain, with narrow and wide text: a table of their own in every tool.
void default_domain(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  for (int i = 0; i < kFew; ++i) {
    nvtxRangePushA("default ascii");
    nvtxRangePushW(L"default wide");
    nvtxEventAttributes_t event = empty_event();
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "default attributes";
    nvtxRangePushEx(&event);
    nvtxMarkA("default mark");
    nvtxMarkW(L"default wide mark");
    nvtxMarkEx(&event);
    nvtxRangePop();
    nvtxRangePop();
    nvtxRangePop();
    const std::array ranges{nvtxRangeStartA("default range"), nvtxRangeStartW(L"default wide range"),
                            nvtxRangeStartEx(&event)};
    for (const nvtxRangeId_t range : ranges) {
      nvtxRangeEnd(range);
    }
  }
  for (const char* const kind : {"push", "pop", "mark", "start", "end"}) {
    counts.add("", kind, 3 * kFew);
  }
}

// Domains of different and of equal name; registered, plain and wide strings; a domain that goes.
void domains(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  for (const char* const name : {"alpha", "beta", "alpha"}) {  // a name given twice is still one domain to people
    NvtxEmitter emitter(counts, name);
    const nvtxStringHandle_t registered = emitter.register_string(std::string(name) + " registered");
    for (int i = 0; i < kFew; ++i) {
      emitter.push_registered(registered);
      emitter.push("plain");
      emitter.push_wide(L"wide");
      emitter.pop();
      emitter.pop();
      emitter.pop();
    }
  }
  NvtxEmitter wide(counts, "wide domain", true);
  wide.push_registered(wide.register_wide_string(L"stra\u00dfe \u4e2d", "stra\u00dfe \u4e2d"));
  wide.push("");  // an empty message is a message
  wide.push(std::string(5000, 'x'));
  wide.pop();
  wide.pop();
  wide.pop();
  NvtxEmitter passing(counts, "passing");
  passing.mark("before the end");
  passing.destroy_domain();
}

// Deep nesting on several named threads at once.
void nested(NvtxCounts& counts, const ScenarioSettings& settings) {
  constexpr int kDepth = 50;
  NvtxEmitter emitter(counts, "nested");
  on_threads(settings.n_threads, [&](int thread) {
    const std::string name = "nested worker " + std::to_string(thread);
    nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), name.c_str());
    counts.name("", "thread", static_cast<std::uint64_t>(gettid()), name);
    for (int repeat = 0; repeat < kFew; ++repeat) {
      for (int depth = 0; depth < kDepth; ++depth) {
        emitter.push("level " + std::to_string(depth));
      }
      for (int depth = 0; depth < kDepth; ++depth) {
        emitter.pop();
      }
    }
  });
}

// Ranges that begin on one thread and end on another, in another order, and overlap.
void start_end(NvtxCounts& counts, const ScenarioSettings& settings) {
  NvtxEmitter emitter(counts, "start end");
  std::vector<std::vector<nvtxRangeId_t>> ranges(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < kFew; ++i) {
    for (auto& of_thread : ranges) {
      of_thread.push_back(emitter.start("handed over " + std::to_string(i)));
    }
  }
  on_threads(settings.n_threads, [&](int thread) {
    for (const nvtxRangeId_t range : ranges[static_cast<std::size_t>(thread)]) {
      emitter.end(range);
    }
  });
}

void marks(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  NvtxEmitter emitter(counts, "marks");
  emitter.name_category(7, "seven");
  emitter.name_category(8, "eight");
  for (std::uint32_t i = 0; i < kFew; ++i) {
    emitter.mark("mark", {.category = 7 + i % 2, .color_argb = 0xFF00FF00U + i});
  }
}

// Each basic payload type, at its limits.
void payloads(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  NvtxEmitter emitter(counts, "payloads");
  const std::array<Decoration, 9> decorations{{
      {.payload_type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, .payload_bits = UINT64_MAX},
      {.payload_type = NVTX_PAYLOAD_TYPE_INT64, .payload_bits = std::bit_cast<std::uint64_t>(INT64_MIN)},
      {.payload_type = NVTX_PAYLOAD_TYPE_INT64, .payload_bits = 0},
      {.payload_type = NVTX_PAYLOAD_TYPE_DOUBLE, .payload_bits = std::bit_cast<std::uint64_t>(-1.5e300)},
      {.payload_type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, .payload_bits = UINT32_MAX},
      {.payload_type = NVTX_PAYLOAD_TYPE_INT32, .payload_bits = std::bit_cast<std::uint32_t>(INT32_MIN)},
      {.payload_type = NVTX_PAYLOAD_TYPE_INT32, .payload_bits = 12},
      {.payload_type = NVTX_PAYLOAD_TYPE_FLOAT, .payload_bits = std::bit_cast<std::uint32_t>(2.5F)},
      {.payload_type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, .payload_bits = 0},
  }};
  for (const Decoration& decoration : decorations) {
    emitter.push("range with payload", decoration);
    emitter.mark("mark with payload", decoration);
    emitter.pop();
  }
}

void resources(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  static int named[kFew];
  NvtxEmitter emitter(counts, "resources");
  for (int& resource : named) {
    const nvtxResourceHandle_t handle = emitter.name_resource(&resource, "buffer");
    emitter.forget_resource(handle);
  }
}

// A payload of a registered schema: mixed types, natural padding, an array, an enumeration, a message of its own.
struct Mixed {
  nvtxStringHandle_t message;
  std::uint8_t small;
  std::int16_t medium;
  std::int32_t color;  // of the enumeration
  std::uint64_t bytes;
  double seconds;
  char label[12];
  float ratio;
};
nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::size_t offset, std::uint64_t flags = 0,
                               std::uint64_t length = 0) {
  nvtxPayloadSchemaEntry_t result{};
  result.flags = flags;
  result.type = type;
  result.name = name;
  result.arrayOrUnionDetail = length;
  result.offset = offset;
  return result;
}
std::uint64_t register_colors(NvtxEmitter& emitter) {
  const std::array<nvtxPayloadEnum_t, 2> values{{{"red", 1, 0}, {"blue", 2, 0}}};
  nvtxPayloadEnumAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  attributes.name = "color";
  attributes.entries = values.data();
  attributes.numEntries = values.size();
  attributes.sizeOfEnum = sizeof(std::int32_t);
  emitter.count("enum");
  return nvtxPayloadEnumRegister(emitter.domain(), &attributes);
}
std::uint64_t register_mixed(NvtxEmitter& emitter, std::uint64_t colors) {
  const std::array entries{entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "message",
                                 offsetof(Mixed, message), NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "small", offsetof(Mixed, small)),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "medium", offsetof(Mixed, medium)),
                           entry(colors, "color", offsetof(Mixed, color)),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", offsetof(Mixed, bytes)),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "seconds", offsetof(Mixed, seconds)),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "label", offsetof(Mixed, label),
                                 NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, sizeof Mixed::label),
                           entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "ratio", offsetof(Mixed, ratio))};
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = "mixed";
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries.data();
  attributes.numEntries = entries.size();
  attributes.payloadStaticSize = sizeof(Mixed);
  emitter.count("schema");
  return nvtxPayloadSchemaRegister(emitter.domain(), &attributes);
}
void schema(NvtxCounts& counts, const ScenarioSettings& /*settings*/) {
  NvtxEmitter emitter(counts, "schema");
  const std::uint64_t mixed = register_mixed(emitter, register_colors(emitter));
  Mixed value{};  // value-initialised: the padding is sent too
  value.message = emitter.register_string("mixed message");
  value.small = 200;
  value.medium = -2;
  value.color = 2;
  value.seconds = 0.25;
  value.ratio = 0.5F;
  constexpr std::string_view kLabel = "a label";
  kLabel.copy(value.label, sizeof value.label);
  const nvtxPayloadData_t data{mixed, sizeof value, &value};
  const std::array two{data, data};
  for (std::uint64_t i = 0; i < kFew; ++i) {
    value.bytes = i << 40U;
    nvtxRangePushPayload(emitter.domain(), &data, 1);
    nvtxMarkPayload(emitter.domain(), two.data(), two.size());
    nvtxRangePopPayload(emitter.domain(), &data, 1);
    const nvtxRangeId_t range = nvtxRangeStartPayload(emitter.domain(), &data, 1);
    nvtxRangeEndPayload(emitter.domain(), range, &data, 1);
    nvtxEventAttributes_t event = empty_event();
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = static_cast<std::int32_t>(two.size());
    event.payload.ullValue = reinterpret_cast<std::uintptr_t>(two.data());
    nvtxDomainRangePushEx(emitter.domain(), &event);
    nvtxDomainRangePop(emitter.domain());
  }
  for (const char* const kind :
       {"push_payload", "pop_payload", "mark_payload", "start_payload", "end_payload", "push", "pop"}) {
    emitter.count(kind, kFew);
  }
}

// What XLA marks when a program with several devices runs a step: one thread a device, the module's execution with that
// of its thunk inside, and another module between. One device does one step more than the one before it. The module is
// compiled anew on the way, which gives it another title; old releases of XLA pass titles as C strings, new ones
// register them.
void xla(NvtxCounts& counts, const ScenarioSettings& settings) {
  NvtxEmitter emitter(counts, "TSL");
  const nvtxStringHandle_t step = emitter.register_string("XlaModule:#hlo_module=jit_train_step,program_id=3#");
  on_threads(settings.n_threads, [&](int device) {
    for (int i = 0; i < kFew + device; ++i) {
      if (i % 3 == 2) {
        emitter.push("XlaModule:#prefix=jit(train_step)/while,hlo_module=jit_train_step,program_id=8#");
      } else {
        emitter.push_registered(step);
      }
      emitter.push("Thunk:#name=fusion.1,hlo_op=fusion.1#");
      emitter.pop();
      emitter.pop();
      emitter.push("XlaModule:#hlo_module=jit_train_step_metrics,program_id=4#");
      emitter.pop();
    }
  });
}

// As many ranges as the machine can make, on all threads at once: what a tool loses it has to count.
void burst(NvtxCounts& counts, const ScenarioSettings& settings) {
  NvtxEmitter emitter(counts, "burst");
  const nvtxStringHandle_t message = emitter.register_string("burst");
  on_threads(settings.n_threads, [&](int /*thread*/) {
    nvtxEventAttributes_t event = empty_event();
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = message;
    for (std::uint64_t i = 0; i < settings.n_burst_ranges; ++i) {
      nvtxDomainRangePushEx(emitter.domain(), &event);
      nvtxDomainRangePop(emitter.domain());
    }
    emitter.count("push", settings.n_burst_ranges);
    emitter.count("pop", settings.n_burst_ranges);
  });
}

}  // namespace

void emit_few(NvtxCounts& counts, const std::string& domain) {
  NvtxEmitter emitter(counts, domain);
  for (int i = 0; i < kFew; ++i) {
    emitter.push("few");
    emitter.pop();
  }
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"default", "ranges and marks of the default domain, narrow and wide", default_domain},
      {"domains", "domains, registered and plain and wide strings, domain destroyed", domains},
      {"nested", "deep push/pop on several named threads", nested},
      {"startend", "ranges that start on one thread and end on another", start_end},
      {"marks", "marks with category and color", marks},
      {"payloads", "every basic payload type at its limits", payloads},
      {"resources", "named resources", resources},
      {"schema", "payloads of a registered schema with mixed fields", schema},
      {"xla", "executions of XLA modules on several devices", xla},
      {"burst", "as many ranges as the machine can make", burst},
  };
  return all;
}

}  // namespace jaxprof::puppets

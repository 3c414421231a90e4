// Which NVTX calls does a program really make, and what is in them? This library is named by NVTX_INJECTION64_PATH
// and writes every call as one text line (record_file.h) to the file that NVTX_RECORDER_FILE names: domains, strings,
// schemas, ranges with their attributes, payloads as bytes. Handles it gives out are small counters, shared by all
// NVTX instances of the process. It interprets nothing: decoding a payload is the checking test's business.
// NVTX_RECORDER_NO_EXTENSION=1 leaves the payload calls unset, as a tool from before the payload extension does.
#include <atomic>
#include <cwchar>
#include <string>

#include "tests/doubles/nvtx_tables.h"
#include "tests/doubles/record_file.h"

namespace jaxprof::doubles {
namespace {

using namespace nvtx;

const RecordFile& file() {
  static const RecordFile record_file = RecordFile::from_environment("NVTX_RECORDER_FILE");
  return record_file;
}

// Handles: a tag in the upper half says what it is, so that a mixed-up handle shows.
enum class Kind : std::uint64_t { kDomain = 1, kString = 2, kResource = 3, kRange = 4 };
std::uint64_t new_handle(Kind kind) {
  static std::atomic<std::uint64_t> last{0};
  return (static_cast<std::uint64_t>(kind) << 32U) | ++last;
}
template <typename Handle>
Handle as_handle(std::uint64_t value) {
  return reinterpret_cast<Handle>(value);
}

std::string narrow(const wchar_t* wide) {
  std::string text;
  for (; wide != nullptr && *wide != L'\0'; ++wide) {  // test names are ASCII; anything else is shown as a number
    text += *wide < 128 ? std::string(1, static_cast<char>(*wide)) : "U+" + std::to_string(static_cast<long>(*wide));
  }
  return text;
}

void add_message(RecordLine& line, std::int32_t type, std::uint64_t message) {
  line.number("message_type", type);
  if (type == 1) {
    line.text("message", reinterpret_cast<const char*>(message));
  } else if (type == 2) {
    line.add("message", narrow(reinterpret_cast<const wchar_t*>(message)));
  } else {
    line.hex("message", message);
  }
}

void add_payloads(RecordLine& line, const Payload* payloads, std::size_t n_payloads) {
  line.unsigned_number("n_payloads", n_payloads);
  for (std::size_t i = 0; i < n_payloads; ++i) {
    const std::string suffix = std::to_string(i);
    line.hex("schema" + suffix, payloads[i].schema);
    line.number("size" + suffix, static_cast<std::int64_t>(payloads[i].size));
    if (payloads[i].size != SIZE_MAX) {
      line.bytes("bytes" + suffix, payloads[i].data, payloads[i].size);
    }
  }
}

void add_attributes(RecordLine& line, const EventAttributes* event) {
  line.number("version", event->version).number("struct_size", event->size);
  line.number("category", event->category).number("color_type", event->color_type).hex("color", event->color);
  add_message(line, event->message_type, event->message);
  line.hex("payload_type", static_cast<std::uint32_t>(event->payload_type));
  if (event->payload_type == kPayloadExtension) {
    add_payloads(line, reinterpret_cast<const Payload*>(event->payload), static_cast<std::size_t>(event->n_payloads));
  } else {
    line.hex("payload", event->payload);
  }
}

void record_event(const char* callback, std::uint64_t domain, const EventAttributes* event, std::uint64_t range = 0) {
  RecordLine line(callback);
  line.hex("domain", domain);
  if (range != 0) {
    line.hex("range", range);
  }
  add_attributes(line, event);
  file().write(line);
}
void record_name(const char* callback, std::uint64_t domain, std::uint64_t id, const std::string& name) {
  file().write(RecordLine(callback).hex("domain", domain).hex("id", id).add("name", name));
}

EventAttributes plain(std::int32_t message_type, const void* message) {
  EventAttributes event{};
  event.version = 3;
  event.size = sizeof event;
  event.message_type = message_type;
  event.message = reinterpret_cast<std::uint64_t>(message);
  return event;
}

thread_local int depth = 0;

// ---- default domain ------------------------------------------------------------------------------------------------
void mark_ex(const EventAttributes* event) {
  record_event("mark", 0, event);
}
void mark_a(const char* text) {
  auto event = plain(1, text);
  mark_ex(&event);
}
void mark_w(const wchar_t* text) {
  auto event = plain(2, text);
  mark_ex(&event);
}
std::uint64_t start_ex(const EventAttributes* event) {
  const std::uint64_t range = new_handle(Kind::kRange);
  record_event("start", 0, event, range);
  return range;
}
std::uint64_t start_a(const char* text) {
  auto event = plain(1, text);
  return start_ex(&event);
}
std::uint64_t start_w(const wchar_t* text) {
  auto event = plain(2, text);
  return start_ex(&event);
}
void end(std::uint64_t range) {
  file().write(RecordLine("end").hex("domain", 0).hex("range", range));
}
int push_ex(const EventAttributes* event) {
  record_event("push", 0, event);
  return depth++;
}
int push_a(const char* text) {
  auto event = plain(1, text);
  return push_ex(&event);
}
int push_w(const wchar_t* text) {
  auto event = plain(2, text);
  return push_ex(&event);
}
int pop() {
  file().write(RecordLine("pop").hex("domain", 0));
  return --depth;
}
void category_a(std::uint32_t id, const char* name) {
  record_name("category", 0, id, name);
}
void category_w(std::uint32_t id, const wchar_t* name) {
  record_name("category", 0, id, narrow(name));
}
void thread_a(std::uint32_t id, const char* name) {
  record_name("thread", 0, id, name);
}
void thread_w(std::uint32_t id, const wchar_t* name) {
  record_name("thread", 0, id, narrow(name));
}

// ---- named domains -------------------------------------------------------------------------------------------------
void domain_mark(std::uint64_t domain, const EventAttributes* event) {
  record_event("mark", domain, event);
}
std::uint64_t domain_start(std::uint64_t domain, const EventAttributes* event) {
  const std::uint64_t range = new_handle(Kind::kRange);
  record_event("start", domain, event, range);
  return range;
}
void domain_end(std::uint64_t domain, std::uint64_t range) {
  file().write(RecordLine("end").hex("domain", domain).hex("range", range));
}
int domain_push(std::uint64_t domain, const EventAttributes* event) {
  record_event("push", domain, event);
  return depth++;
}
int domain_pop(std::uint64_t domain) {
  file().write(RecordLine("pop").hex("domain", domain));
  return --depth;
}
void* resource_create(std::uint64_t domain, const ResourceAttributes* resource) {
  const std::uint64_t handle = new_handle(Kind::kResource);
  RecordLine line("resource");
  line.hex("domain", domain).hex("handle", handle).hex("type", static_cast<std::uint32_t>(resource->identifier_type));
  line.hex("id", resource->identifier);
  add_message(line, resource->message_type, resource->message);
  file().write(line);
  return as_handle<void*>(handle);
}
void resource_destroy(std::uint64_t handle) {
  file().write(RecordLine("resource_destroy").hex("handle", handle));
}
void domain_category_a(std::uint64_t domain, std::uint32_t id, const char* name) {
  record_name("category", domain, id, name);
}
void domain_category_w(std::uint64_t domain, std::uint32_t id, const wchar_t* name) {
  record_name("category", domain, id, narrow(name));
}
void* new_string(std::uint64_t domain, const std::string& text) {
  const std::uint64_t handle = new_handle(Kind::kString);
  file().write(RecordLine("string").hex("domain", domain).hex("handle", handle).add("text", text));
  return as_handle<void*>(handle);
}
void* string_a(std::uint64_t domain, const char* text) {
  return new_string(domain, text);
}
void* string_w(std::uint64_t domain, const wchar_t* text) {
  return new_string(domain, narrow(text));
}
void* new_domain(const std::string& name) {
  const std::uint64_t handle = new_handle(Kind::kDomain);
  file().write(RecordLine("domain").hex("handle", handle).add("name", name));
  return as_handle<void*>(handle);
}
void* domain_a(const char* name) {
  return new_domain(name);
}
void* domain_w(const wchar_t* name) {
  return new_domain(narrow(name));
}
void domain_destroy(std::uint64_t domain) {
  file().write(RecordLine("domain_destroy").hex("domain", domain));
}
void initialize(const void* /*reserved*/) {
  file().write(RecordLine("initialize"));
}

// ---- payload extension ---------------------------------------------------------------------------------------------
std::uint64_t schema_register(std::uint64_t domain, const Schema* schema) {
  static std::atomic<std::uint64_t> last_dynamic{std::uint64_t{1} << 32U};
  const std::uint64_t id = (schema->field_mask & kSchemaHasId) != 0 && schema->id != 0 ? schema->id : ++last_dynamic;
  RecordLine line("schema");
  line.hex("domain", domain).hex("id", id).hex("field_mask", schema->field_mask);
  line.text("name", (schema->field_mask & kSchemaHasName) != 0 ? schema->name : nullptr);
  line.unsigned_number("type", schema->type).unsigned_number("static_size", schema->static_size);
  line.unsigned_number("n_entries", schema->n_entries);
  for (std::size_t i = 0; i < schema->n_entries; ++i) {
    const SchemaEntry& entry = schema->entries[i];
    line.add("entry" + std::to_string(i), std::to_string(entry.type) + "@" + std::to_string(entry.offset) + "/" +
                                              std::to_string(entry.flags) + "/" + std::to_string(entry.array_length) +
                                              ":" + (entry.name == nullptr ? "(null)" : entry.name));
  }
  file().write(line);
  return id;
}
std::uint64_t enum_register(std::uint64_t domain, const Enum* enumeration) {
  static std::atomic<std::uint64_t> last_dynamic{std::uint64_t{1} << 33U};
  const bool has_id = (enumeration->field_mask & kEnumHasId) != 0 && enumeration->id != 0;
  const std::uint64_t id = has_id ? enumeration->id : ++last_dynamic;
  RecordLine line("enum");
  line.hex("domain", domain).hex("id", id).hex("field_mask", enumeration->field_mask);
  line.text("name", (enumeration->field_mask & kEnumHasName) != 0 ? enumeration->name : nullptr);
  line.unsigned_number("size_bytes", enumeration->size_bytes);
  for (std::size_t i = 0; i < enumeration->n_entries; ++i) {
    line.add("value" + std::to_string(i),
             std::to_string(enumeration->entries[i].value) + ":" + enumeration->entries[i].name);
  }
  file().write(line);
  return id;
}
void record_payloads(const char* callback, std::uint64_t domain, const Payload* payloads, std::size_t n_payloads,
                     std::uint64_t range = 0) {
  RecordLine line(callback);
  line.hex("domain", domain);
  if (range != 0) {
    line.hex("range", range);
  }
  add_payloads(line, payloads, n_payloads);
  file().write(line);
}
void mark_payload(std::uint64_t domain, const Payload* payloads, std::size_t n_payloads) {
  record_payloads("mark_payload", domain, payloads, n_payloads);
}
int push_payload(std::uint64_t domain, const Payload* payloads, std::size_t n_payloads) {
  record_payloads("push_payload", domain, payloads, n_payloads);
  return depth++;
}
int pop_payload(std::uint64_t domain, const Payload* payloads, std::size_t n_payloads) {
  record_payloads("pop_payload", domain, payloads, n_payloads);
  return --depth;
}
std::uint64_t start_payload(std::uint64_t domain, const Payload* payloads, std::size_t n_payloads) {
  const std::uint64_t range = new_handle(Kind::kRange);
  record_payloads("start_payload", domain, payloads, n_payloads, range);
  return range;
}
void end_payload(std::uint64_t domain, std::uint64_t range, const Payload* payloads, std::size_t n_payloads) {
  record_payloads("end_payload", domain, payloads, n_payloads, range);
}
std::uint8_t domain_is_enabled(std::uint64_t domain) {
  file().write(RecordLine("domain_is_enabled").hex("domain", domain));
  return 1;
}

// Core tables hold pointers to the slots; slots beyond the program's own table do not exist there.
template <typename Function>
void set(void** slots[], unsigned n_slots, unsigned slot, Function function) {
  if (slot < n_slots && slots[slot] != nullptr) {
    *slots[slot] = reinterpret_cast<void*>(function);
  }
}
template <typename Function>
void set(const Segment& segment, unsigned slot, Function function) {
  if (slot < segment.n_slots) {
    segment.slots[slot] = reinterpret_cast<std::intptr_t>(function);
  }
}

void attach_core(void*** slots, unsigned n) {
  set(slots, n, kMarkEx, mark_ex), set(slots, n, kMarkA, mark_a), set(slots, n, kMarkW, mark_w);
  set(slots, n, kRangeStartEx, start_ex), set(slots, n, kRangeStartA, start_a), set(slots, n, kRangeStartW, start_w);
  set(slots, n, kRangeEnd, end), set(slots, n, kRangePop, pop);
  set(slots, n, kRangePushEx, push_ex), set(slots, n, kRangePushA, push_a), set(slots, n, kRangePushW, push_w);
  set(slots, n, kNameCategoryA, category_a), set(slots, n, kNameCategoryW, category_w);
  set(slots, n, kNameOsThreadA, thread_a), set(slots, n, kNameOsThreadW, thread_w);
}
void attach_core2(void*** slots, unsigned n) {
  set(slots, n, kDomainMarkEx, domain_mark), set(slots, n, kDomainRangeStartEx, domain_start);
  set(slots, n, kDomainRangeEnd, domain_end), set(slots, n, kDomainRangePushEx, domain_push);
  set(slots, n, kDomainRangePop, domain_pop), set(slots, n, kResourceCreate, resource_create);
  set(slots, n, kResourceDestroy, resource_destroy), set(slots, n, kDomainNameCategoryA, domain_category_a);
  set(slots, n, kDomainNameCategoryW, domain_category_w), set(slots, n, kRegisterStringA, string_a);
  set(slots, n, kRegisterStringW, string_w), set(slots, n, kDomainCreateA, domain_a);
  set(slots, n, kDomainCreateW, domain_w), set(slots, n, kDomainDestroy, domain_destroy);
  set(slots, n, kInitialize, initialize);
}

}  // namespace
}  // namespace jaxprof::doubles

using namespace jaxprof::doubles;

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx::GetExportTable get_table) {
  const auto* const table = static_cast<const nvtx::CallbackTable*>(get_table(nvtx::kCallbackTable));
  if (table == nullptr || table->struct_size < sizeof(nvtx::CallbackTable)) {
    return 0;
  }
  void*** slots = nullptr;
  unsigned n_slots = 0;
  if (table->module_functions(nvtx::kModuleCore, &slots, &n_slots) != 0) {
    attach_core(slots, n_slots);
  }
  if (table->module_functions(nvtx::kModuleCore2, &slots, &n_slots) != 0) {
    attach_core2(slots, n_slots);
  }
  file().write(RecordLine("attach_core").unsigned_number("n_core2_slots", n_slots));
  return 1;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtx::ModuleInfo* module) {
  if (std::getenv("NVTX_RECORDER_NO_EXTENSION") != nullptr || module->module != nvtx::kModulePayload) {
    return 0;
  }
  for (std::size_t i = 0; i < module->n_segments; ++i) {
    const nvtx::Segment& segment = module->segments[i];
    set(segment, nvtx::kSchemaRegister, schema_register), set(segment, nvtx::kEnumRegister, enum_register);
    set(segment, nvtx::kMarkPayload, mark_payload), set(segment, nvtx::kRangePushPayload, push_payload);
    set(segment, nvtx::kRangePopPayload, pop_payload), set(segment, nvtx::kRangeStartPayload, start_payload);
    set(segment, nvtx::kRangeEndPayload, end_payload), set(segment, nvtx::kDomainIsEnabled, domain_is_enabled);
    file().write(RecordLine("attach_payload")
                     .hex("compatibility", module->compatibility)
                     .unsigned_number("n_slots", segment.n_slots));
  }
  return 1;
}

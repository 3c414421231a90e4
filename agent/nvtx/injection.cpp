#include "agent/nvtx/injection.h"

#include <atomic>
#include <cstdint>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/domains.h"
#include "agent/nvtx/nvtx_types.h"
#include "agent/nvtx/quiet.h"
#include "agent/nvtx/ranges.h"
#include "agent/nvtx/registry.h"

namespace jaxprof::nvtx {
namespace {

// ---- what both modules do ---------------------------------------------------------------------------------------

inline int push_given(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  if (a != nullptr && a->size >= sizeof *a) {
    const int depth = push_quietly(domain, a->messageType, a->message);
    if (depth != kNotQuiet) return depth;
  }
  return push(domain, given(a));
}
inline int pop_plain(nvtxDomainHandle_t domain) {
  const int depth = pop_quietly(domain);
  return depth != kNotQuiet ? depth : pop(domain, nullptr, 0);
}

// ---- the core module: the default domain ------------------------------------------------------------------------

void core_mark_ex(const nvtxEventAttributes_t* a) {
  mark(nullptr, given(a));
}
void core_mark_a(const char* m) {
  mark(nullptr, given(m));
}
void core_mark_w(const wchar_t* m) {
  mark(nullptr, given(m));
}
nvtxRangeId_t core_start_ex(const nvtxEventAttributes_t* a) {
  return start(nullptr, given(a));
}
nvtxRangeId_t core_start_a(const char* m) {
  return start(nullptr, given(m));
}
nvtxRangeId_t core_start_w(const wchar_t* m) {
  return start(nullptr, given(m));
}
void core_end(nvtxRangeId_t range) {
  end(nullptr, range, nullptr, 0);
}
int core_push_ex(const nvtxEventAttributes_t* a) {
  return push_given(nullptr, a);
}
int core_push_a(const char* m) {
  nvtxMessageValue_t message;
  message.ascii = m;
  const int depth = push_quietly(nullptr, NVTX_MESSAGE_TYPE_ASCII, message);
  return depth != kNotQuiet ? depth : push(nullptr, given(m));
}
int core_push_w(const wchar_t* m) {
  return push(nullptr, given(m));
}
int core_pop() {
  return pop_plain(nullptr);
}
void core_category_a(std::uint32_t category, const char* name) {
  name_category(nullptr, category, collect::intern(name));
}
void core_category_w(std::uint32_t category, const wchar_t* name) {
  name_category(nullptr, category, intern_wide(name));
}
void core_thread_a(std::uint32_t tid, const char* name) {
  name_thread(tid, collect::intern(name));
}
void core_thread_w(std::uint32_t tid, const wchar_t* name) {
  name_thread(tid, intern_wide(name));
}

// ---- the core2 module: domains ----------------------------------------------------------------------------------

void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t range) {
  end(domain, range, nullptr, 0);
}
int domain_pop(nvtxDomainHandle_t domain) {
  return pop_plain(domain);
}
void domain_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  name_category(domain, category, collect::intern(name));
}
void domain_category_w(nvtxDomainHandle_t domain, std::uint32_t category, const wchar_t* name) {
  name_category(domain, category, intern_wide(name));
}
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  mark(domain, given(a));
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  return start(domain, given(a));
}
int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  return push_given(domain, a);
}

// ---- the payload extension --------------------------------------------------------------------------------------

void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) {
  mark(domain, given(payload, count));
}
int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) {
  return push(domain, given(payload, count));
}
nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) {
  return start(domain, given(payload, count));
}

using Slots = void***;  // slots[id] points to the function pointer of callback `id`

// Sets callback `id`, if this NVTX knows it. Slots that are left alone become no-ops.
template <typename Function>
void set(Slots slots, unsigned count, unsigned id, Function* function) noexcept {
  if (id < count && slots[id] != nullptr) *slots[id] = reinterpret_cast<void*>(function);
}

void fill_core(Slots slots, unsigned count) noexcept {
  set(slots, count, NVTX_CBID_CORE_MarkEx, core_mark_ex);
  set(slots, count, NVTX_CBID_CORE_MarkA, core_mark_a);
  set(slots, count, NVTX_CBID_CORE_MarkW, core_mark_w);
  set(slots, count, NVTX_CBID_CORE_RangeStartEx, core_start_ex);
  set(slots, count, NVTX_CBID_CORE_RangeStartA, core_start_a);
  set(slots, count, NVTX_CBID_CORE_RangeStartW, core_start_w);
  set(slots, count, NVTX_CBID_CORE_RangeEnd, core_end);
  set(slots, count, NVTX_CBID_CORE_RangePushEx, core_push_ex);
  set(slots, count, NVTX_CBID_CORE_RangePushA, core_push_a);
  set(slots, count, NVTX_CBID_CORE_RangePushW, core_push_w);
  set(slots, count, NVTX_CBID_CORE_RangePop, core_pop);
  set(slots, count, NVTX_CBID_CORE_NameCategoryA, core_category_a);
  set(slots, count, NVTX_CBID_CORE_NameCategoryW, core_category_w);
  set(slots, count, NVTX_CBID_CORE_NameOsThreadA, core_thread_a);
  set(slots, count, NVTX_CBID_CORE_NameOsThreadW, core_thread_w);
}

void fill_core2(Slots slots, unsigned count) noexcept {
  set(slots, count, NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  set(slots, count, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  set(slots, count, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  set(slots, count, NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  set(slots, count, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  set(slots, count, NVTX_CBID_CORE2_DomainResourceCreate, create_resource);
  set(slots, count, NVTX_CBID_CORE2_DomainNameCategoryA, domain_category_a);
  set(slots, count, NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_w);
  set(slots, count, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(slots, count, NVTX_CBID_CORE2_DomainRegisterStringW, register_string_wide);
  set(slots, count, NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(slots, count, NVTX_CBID_CORE2_DomainCreateW, create_domain_wide);
}

std::atomic<std::uint32_t> instance_count{0};

}  // namespace

int initialize(const void* (*get_export_table)(unsigned)) noexcept {
  const std::uint32_t instance = instance_count.fetch_add(1, std::memory_order_relaxed) + 1;
  if (!collect::attach(kHookNvtx, instance)) return 1;
  note_domain(0, "");
  collect::process_slot()->nvtx_instances.store(instance, std::memory_order_relaxed);
  if (get_export_table == nullptr) return 1;
  const auto* callbacks = static_cast<const CallbacksTable*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_bytes < sizeof *callbacks) return 1;
  Slots slots = nullptr;
  unsigned count = 0;
  if (callbacks->get_module_function_table(NVTX_CB_MODULE_CORE, &slots, &count) != 0 && slots != nullptr) {
    fill_core(slots, count);
  }
  slots = nullptr;
  if (callbacks->get_module_function_table(NVTX_CB_MODULE_CORE2, &slots, &count) != 0 && slots != nullptr) {
    fill_core2(slots, count);
  }
  return 1;
}

int initialize_extension(void* info) noexcept {
  const auto* module = static_cast<const ExtensionModule*>(info);
  if (module == nullptr || module->struct_bytes < sizeof *module || module->module != kPayloadModule) return 1;
  if (!collect::attach(kHookNvtxExtension, 0)) return 1;
  note_domain(0, "");
  for (std::size_t i = 0; i < module->segment_count; ++i) {
    const ExtensionSegment& segment = module->segments[i];
    // Only segment 0 is defined; early releases have two slots in it, later ones 63.
    if (segment.id != 0 || segment.slots == nullptr) continue;
    const auto set_slot = [&segment](PayloadSlot slot, auto* function) {
      const auto index = static_cast<std::size_t>(slot);
      if (index < segment.slot_count) segment.slots[index] = reinterpret_cast<std::intptr_t>(function);
    };
    set_slot(PayloadSlot::kSchemaRegister, register_schema);
    set_slot(PayloadSlot::kEnumRegister, register_enum);
    set_slot(PayloadSlot::kMarkPayload, mark_payload);
    set_slot(PayloadSlot::kRangePushPayload, push_payload);
    set_slot(PayloadSlot::kRangePopPayload, pop);
    set_slot(PayloadSlot::kRangeStartPayload, start_payload);
    set_slot(PayloadSlot::kRangeEndPayload, end);
  }
  return 1;
}

}  // namespace jaxprof::nvtx

#include "tests/unit/nvtx/fake_nvtx.h"

#include <algorithm>

#include "agent/nvtx/injection.h"

namespace jaxprof::test {
namespace {

// NVTX's own table is reached through plain functions as well: the copy that is being initialised.
FakeNvtx* current = nullptr;

std::size_t count_set(const std::vector<void*>& slots) {
  return static_cast<std::size_t>(
      std::count_if(slots.begin(), slots.end(), [](void* slot) { return slot != nullptr; }));
}

}  // namespace

FakeNvtx::FakeNvtx(unsigned core_size, unsigned core2_size) : core_(core_size), core2_(core2_size) {
  // Slot 0 of each is NVTX's "invalid" and has no place to write to.
  for (void*& slot : core_) core_slots_.push_back(&slot == core_.data() ? nullptr : &slot);
  for (void*& slot : core2_) core2_slots_.push_back(&slot == core2_.data() ? nullptr : &slot);
}

int FakeNvtx::get_table(std::uint32_t module, void**** table, unsigned* size) {
  std::vector<void**>* slots = module == NVTX_CB_MODULE_CORE    ? &current->core_slots_
                               : module == NVTX_CB_MODULE_CORE2 ? &current->core2_slots_
                                                                : nullptr;
  if (slots == nullptr) return 0;
  *table = slots->data();
  *size = static_cast<unsigned>(slots->size());
  return 1;
}

const void* FakeNvtx::get_export_table(unsigned id) {
  static const nvtx::CallbacksTable callbacks = {sizeof callbacks, get_table};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

int FakeNvtx::initialize() {
  current = this;
  return nvtx::initialize(get_export_table);
}

std::size_t FakeNvtx::filled_core() const {
  return count_set(core_);
}
std::size_t FakeNvtx::filled_core2() const {
  return count_set(core2_);
}

nvtxDomainHandle_t FakeNvtx::create_domain(const char* name) const {
  return core2<nvtxDomainHandle_t (*)(const char*)>(NVTX_CBID_CORE2_DomainCreateA)(name);
}
nvtxStringHandle_t FakeNvtx::register_string(nvtxDomainHandle_t domain, const char* text) const {
  using Register = nvtxStringHandle_t (*)(nvtxDomainHandle_t, const char*);
  return core2<Register>(NVTX_CBID_CORE2_DomainRegisterStringA)(domain, text);
}
int FakeNvtx::push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t& attributes) const {
  using Push = int (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);
  return core2<Push>(NVTX_CBID_CORE2_DomainRangePushEx)(domain, &attributes);
}
int FakeNvtx::pop(nvtxDomainHandle_t domain) const {
  return core2<int (*)(nvtxDomainHandle_t)>(NVTX_CBID_CORE2_DomainRangePop)(domain);
}

nvtxEventAttributes_t attributes_of(const char* message) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

int FakeExtension::initialize(std::uint16_t module, std::size_t segment_id) {
  nvtx::ExtensionSegment segment{segment_id, slots_.size(), slots_.data()};
  nvtx::ExtensionModule info{};
  info.struct_bytes = sizeof info;
  info.module = module;
  info.segment_count = 1;
  info.segments = &segment;
  return nvtx::initialize_extension(&info);
}

std::size_t FakeExtension::filled() const {
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](std::intptr_t s) { return s != 0; }));
}

}  // namespace jaxprof::test

#include "tests/puppets/nvtx_emitter.h"

namespace jaxprof::puppets {
namespace {

nvtxEventAttributes_t decorated(const std::string& message, const Decoration& decoration) {
  nvtxEventAttributes_t event = empty_event();
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message.c_str();
  event.category = decoration.category;
  if (decoration.color_argb != 0) {
    event.colorType = NVTX_COLOR_ARGB;
    event.color = decoration.color_argb;
  }
  event.payloadType = decoration.payload_type;
  event.payload.ullValue = decoration.payload_bits;
  return event;
}

}  // namespace

nvtxEventAttributes_t empty_event() {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

NvtxEmitter::NvtxEmitter(NvtxCounts& counts, const std::string& name, bool is_wide) : counts_(counts), name_(name) {
  domain_ =
      is_wide ? nvtxDomainCreateW(std::wstring(name.begin(), name.end()).c_str()) : nvtxDomainCreateA(name.c_str());
  count("domain");
}

nvtxStringHandle_t NvtxEmitter::register_string(const std::string& text) {
  counts_.name(name_, "string", 0, text);
  return nvtxDomainRegisterStringA(domain_, text.c_str());
}

nvtxStringHandle_t NvtxEmitter::register_wide_string(const std::wstring& text, const std::string& as_utf8) {
  counts_.name(name_, "string", 0, as_utf8);
  return nvtxDomainRegisterStringW(domain_, text.c_str());
}

void NvtxEmitter::push(const std::string& message, const Decoration& decoration) {
  const nvtxEventAttributes_t event = decorated(message, decoration);
  nvtxDomainRangePushEx(domain_, &event);
  count("push");
  if (decoration.payload_type != NVTX_PAYLOAD_UNKNOWN) {
    counts_.payload(name_, message, decoration.payload_type, decoration.payload_bits);
  }
}

void NvtxEmitter::push_registered(nvtxStringHandle_t message) {
  nvtxEventAttributes_t event = empty_event();
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = message;
  nvtxDomainRangePushEx(domain_, &event);
  count("push");
}

void NvtxEmitter::push_wide(const std::wstring& message) {
  nvtxEventAttributes_t event = empty_event();
  event.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  event.message.unicode = message.c_str();
  nvtxDomainRangePushEx(domain_, &event);
  count("push");
}

void NvtxEmitter::pop() {
  nvtxDomainRangePop(domain_);
  count("pop");
}

nvtxRangeId_t NvtxEmitter::start(const std::string& message) {
  const nvtxEventAttributes_t event = decorated(message, {});
  count("start");
  return nvtxDomainRangeStartEx(domain_, &event);
}

void NvtxEmitter::end(nvtxRangeId_t range) {
  nvtxDomainRangeEnd(domain_, range);
  count("end");
}

void NvtxEmitter::mark(const std::string& message, const Decoration& decoration) {
  const nvtxEventAttributes_t event = decorated(message, decoration);
  nvtxDomainMarkEx(domain_, &event);
  count("mark");
  if (decoration.payload_type != NVTX_PAYLOAD_UNKNOWN) {
    counts_.payload(name_, message, decoration.payload_type, decoration.payload_bits);
  }
}

void NvtxEmitter::name_category(std::uint32_t category, const std::string& name) {
  nvtxDomainNameCategoryA(domain_, category, name.c_str());
  counts_.name(name_, "category", category, name);
}

nvtxResourceHandle_t NvtxEmitter::name_resource(void* resource, const std::string& name) {
  nvtxResourceAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  attributes.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  attributes.identifier.pValue = resource;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  counts_.name(name_, "resource", reinterpret_cast<std::uintptr_t>(resource), name);
  return nvtxDomainResourceCreate(domain_, &attributes);
}

void NvtxEmitter::forget_resource(nvtxResourceHandle_t resource) {
  nvtxDomainResourceDestroy(resource);
  counts_.add("", "resource_destroy");  // NVTX gives the handle only, not the domain
}

void NvtxEmitter::destroy_domain() {
  nvtxDomainDestroy(domain_);
  count("domain_destroy");
}

}  // namespace jaxprof::puppets

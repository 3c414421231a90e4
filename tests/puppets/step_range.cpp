#include "tests/puppets/step_range.h"

#include <nvtx3/nvToolsExt.h>

namespace jaxprof::puppets {
namespace {

nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("puppet");
  return handle;
}

}  // namespace

StepRange::StepRange(bool is_enabled, std::int64_t iteration) : is_enabled_(is_enabled) {
  if (!is_enabled_) {
    return;
  }
  static const nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain(), "step");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = iteration;
  nvtxDomainRangePushEx(domain(), &event);
}

StepRange::~StepRange() {
  if (is_enabled_) {
    nvtxDomainRangePop(domain());
  }
}

}  // namespace jaxprof::puppets

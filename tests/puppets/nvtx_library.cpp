// A library with a copy of NVTX of its own, as every library that uses NVTX has: NVTX is header-only. It is loaded and
// unloaded while the tool stays, so what the tool remembers of it must not be an address in it.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void emit_ranges(int n_ranges) {
  static const char kName[] = "of a library";
  nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "registered in a library");
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = registered;
  for (int i = 0; i < n_ranges; ++i) {
    nvtxRangePushA(kName);
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
    nvtxRangePop();
  }
}

#include "agent/cupti/capability.h"

namespace jaxprof::cupti {
namespace {

// The release notes of CUDA 11.8 to 13.5, section CUPTI.
const char* note_of(std::uint32_t version) noexcept {
  if (version < kOldestVersion) return "its CUPTI is older than CUDA 11.8";
  if (version == 21 || version == 22) return "CUPTI of CUDA 12.3 and 12.4 may miss kernels; 12.5 and later do not";
  if (version == 130000) return "CUPTI 13.0.0 can hang when it is switched off, so it stays on; 13.0.1 is mended";
  if (version >= 130200 && version < 130300) return "CUPTI 13.2 slows programs down more than others; 13.3 is mended";
  if (version > kNewestKnownVersion)
    return "this CUPTI is newer than this jaxprof: fields that it has added are not read";
  return nullptr;
}

}  // namespace

Capability capability_of(std::uint32_t version) noexcept {
  Capability capability;
  capability.is_usable = version >= kOldestVersion;
  capability.can_share = version >= 130300;
  capability.can_filter_api = version >= 23;
  capability.survives_refusal = version >= 27;
  capability.has_sized_params = version >= 130200;
  capability.can_trace_hardware = version >= 130401;
  capability.hangs_when_disabled = version == 130000;
  capability.miscounts_when_resumed = version >= 130000 && version <= 130100;
  capability.note = note_of(version);
  return capability;
}

}  // namespace jaxprof::cupti

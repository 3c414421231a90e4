#include "agent/cupti/result_text.h"

namespace jaxprof::cupti {
namespace {

const char* words_of(abi::Result result) noexcept {
  switch (result) {
    case abi::kNotCompatible:
      return "not compatible with what is enabled already";
    case abi::kNotInitialized:
      return "CUPTI could not be initialised";
    case abi::kInvalidKind:
      return "kind not known to this CUPTI";
    case abi::kNotSupported:
      return "not supported here";
    case abi::kVirtualizedDevice:
      return "not supported on this virtual GPU";
    case abi::kInsufficientPrivileges:
      return "not permitted: needs the driver option NVreg_RestrictProfilingToAdminUsers=0 or CAP_SYS_ADMIN";
    case abi::kVirtualizedPrivileges:
      return "not permitted on this virtual GPU: profiling has to be enabled for it on the host";
    case abi::kMultipleSubscribers:
      return "another profiler has CUPTI";
    case abi::kConfidentialComputing:
      return "not supported with confidential computing";
    case abi::kMigDevice:
      return "not supported on MIG instances";
    case abi::kWslDevice:
      return "not supported under WSL";
    case abi::kUnknown:
      return "no usable CUDA driver";
    default:
      return "error";
  }
}

}  // namespace

void append_result(abi::Result result, TextBuffer* out) noexcept {
  out->append(words_of(result));
  out->append(" (CUPTI ");
  out->append_number(static_cast<std::uint32_t>(result));
  out->append(')');
}

}  // namespace jaxprof::cupti

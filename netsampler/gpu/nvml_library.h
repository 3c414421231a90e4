// Finding libnvidia-ml and its functions. It comes with the driver, not with CUDA: containers and Kubernetes mount it
// where no loader looks. Agent-safe; jaxprof-probe's one thread.
#pragma once

#include "agent/base/text.h"
#include "netsampler/gpu/nvml_abi.h"

namespace jaxprof::netsampler::nvml {

// Names the library to be loaded, and no other then.
inline constexpr const char* kLibraryVariable = "JAXPROF_LIBNVML";

// Loads and initialises the library, which may take seconds for each board that nothing else uses. False with one line
// in `why` if there is none, if it lacks what nothing goes without, or if it does not start.
bool open_library(Functions* functions, TextBuffer* why) noexcept;

// NVML's text for `result` and its number.
void append_result(const Functions& functions, Return result, TextBuffer* text) noexcept;

}  // namespace jaxprof::netsampler::nvml

// Finds the process's libcupti. A process must have one copy: it keeps its state in the library, and the driver serves
// one. So the copy that the program has mapped already is taken, whatever its CUDA version; only where there is none
// does the agent load one, from beside the CUDA libraries that are there. Two different copies mapped: none is used,
// since nobody can say which of them the driver would serve.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/text.h"
#include "agent/cupti/capability.h"
#include "agent/cupti/functions.h"

namespace jaxprof::cupti {

// The environment variable with the path of the library to use.
inline constexpr const char* kLibraryVariable = "JAXPROF_LIBCUPTI";

struct Library {
  Functions functions;
  std::uint32_t version = 0;
  Capability capability;
  char path[512] = "";
};

// Loads and asks the library; it is never unloaded. False if there is none that can be used, and `why` says so in one
// line. Calls dlopen(): not from a callback.
bool open_library(Library* library, TextBuffer* why) noexcept;

}  // namespace jaxprof::cupti

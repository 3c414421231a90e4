// What the V1 and V2 functions of the activity interface have in common: the same thing for the one client or for a
// subscriber's.
#pragma once

#include <cupti.h>

#include "tests/doubles/cuda/cupti/client.h"

namespace jaxprof::fake_cuda {

CUptiResult enable_kind(Client& client, CUpti_ActivityKind kind, bool dumps);
[[noreturn]] void hang();
CUptiResult disable_kind(Client& client, CUpti_ActivityKind kind);
CUptiResult set_attribute(Client& client, CUpti_ActivityAttribute attribute, const size_t* size, const void* value);
// Kernel times by hardware events from now on, if GPUs have them and there is no context yet.
CUptiResult enable_hardware_trace();
CUptiResult get_attribute(Client& client, CUpti_ActivityAttribute attribute, size_t* size, void* value);
CUptiResult next_record(std::uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record);

}  // namespace jaxprof::fake_cuda

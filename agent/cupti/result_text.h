// CUPTI's result codes in words, for the one line that a process says about its GPUs.
#pragma once

#include "agent/base/text.h"
#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {

// What went wrong and, where a user or administrator can do something about it, what. The number follows in brackets.
void append_result(abi::Result result, TextBuffer* out) noexcept;

}  // namespace jaxprof::cupti

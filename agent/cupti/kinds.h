// What CUPTI is asked for, from what the user wants to trace: the kinds of records, and the calls among them. Kinds
// that the library, the driver or the user's rights refuse are left out, and said.
#pragma once

#include <cstdint>

#include "agent/base/text.h"
#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

class Kinds {
 public:
  // `trace`: TraceKind bits. Kinds are enabled in this order, so that a launch has its kernel.
  void choose(std::uint32_t trace) noexcept;

  // What has to be settled before anything is enabled, and before CUDA makes its first context for the hardware's own
  // trace. Appends to `note` what was refused.
  void prepare(Subscriber* subscriber, const Library& library, TextBuffer* note) noexcept;

  // Enables all; false if even kernels are refused. Appends to `note` what was. Not inside a resource callback.
  bool enable(Subscriber* subscriber, TextBuffer* note) noexcept;
  void disable(Subscriber* subscriber) noexcept;

 private:
  struct Choice {
    abi::Kind kind;
    const char* name;  // for the note; null: nobody misses it
    bool has_past;     // records of what exists already
  };
  static constexpr std::uint32_t kMaxChoices = 16;
  void add(abi::Kind kind, const char* name, bool has_past = false) noexcept;

  Choice choices_[kMaxChoices] = {};
  std::uint32_t count_ = 0;
  std::uint32_t trace_ = 0;
  std::uint32_t enabled_ = 0;  // a bit a choice
  bool filters_api_ = false;
};

}  // namespace jaxprof::cupti

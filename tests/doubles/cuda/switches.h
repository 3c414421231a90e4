// A double's behaviour is chosen by many small integers, each of which a test sets in the environment or while it runs.
// This is how both fakes keep theirs: a table of names with defaults, read from the environment once. fake_cuda.h
// documents them all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace jaxprof::fake_cuda {

struct SwitchDefault {
  const char* name;
  std::int64_t value;
};

// `Name` is an enum whose enumerators index `defaults`. Any thread.
template <typename Name, std::size_t kCount>
class Switches {
 public:
  Switches(const std::string& prefix, const SwitchDefault (&defaults)[kCount]) : defaults_(defaults) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const char* const text = std::getenv((prefix + defaults[i].name).c_str());
      values_[i] = text == nullptr ? defaults[i].value : std::strtoll(text, nullptr, 0);
    }
  }
  std::int64_t operator[](Name name) const {
    return values_[static_cast<std::size_t>(name)].load(std::memory_order_relaxed);
  }
  bool set(std::string_view name, std::int64_t value) {
    for (std::size_t i = 0; i < kCount; ++i) {
      if (name == defaults_[i].name) {
        values_[i] = value;
        return true;
      }
    }
    return false;
  }

 private:
  const SwitchDefault (&defaults_)[kCount];
  std::atomic<std::int64_t> values_[kCount];
};

}  // namespace jaxprof::fake_cuda

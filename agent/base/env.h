// Looking up environment variables through a value, so that identity, templates and the child's environment are
// functions that a test can feed. Agent-safe.
#pragma once

#include <cstdlib>
#include <cstring>

namespace jaxprof {

// A view of an environment: the process's own, or any array of "NAME=value" strings that ends with a null pointer
// (as execve takes it). Values stay owned by that array.
class Env {
 public:
  // The calling process's environment, looked up with getenv.
  Env() noexcept = default;
  explicit Env(const char* const* entries) noexcept : entries_(entries) {}

  // The value of `name`, or null if it is not set.
  const char* get(const char* name) const noexcept {
    if (entries_ == nullptr) return std::getenv(name);
    const std::size_t length = std::strlen(name);
    for (const char* const* entry = entries_; *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
    }
    return nullptr;
  }

 private:
  const char* const* entries_ = nullptr;
};

}  // namespace jaxprof

// Text without allocation or libstdc++ run time, for what runs inside the user's process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof {

// Appends to a caller's buffer as much as there is room for, keeps it zero-terminated, and remembers if something did
// not fit.
class TextBuffer {
 public:
  TextBuffer(char* buffer, std::size_t capacity) noexcept;
  void append(char c) noexcept;
  void append(const char* text) noexcept;
  void append(const char* text, std::size_t length) noexcept;
  void append_number(std::uint64_t value) noexcept;
  bool is_truncated() const noexcept { return is_truncated_; }
  std::size_t size() const noexcept { return size_; }
  const char* c_str() const noexcept { return buffer_; }

 private:
  char* buffer_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  bool is_truncated_ = false;
};

// Decimal digits only, the whole text, no overflow; otherwise false and `value` is untouched.
bool parse_decimal(const char* text, std::uint64_t* value) noexcept;
// The same for a text of known length.
bool parse_decimal(const char* text, std::size_t length, std::uint64_t* value) noexcept;

}  // namespace jaxprof

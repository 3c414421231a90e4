#include "agent/base/text.h"

#include <cstring>

namespace jaxprof {

TextBuffer::TextBuffer(char* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {
  if (capacity_ > 0) buffer_[0] = '\0';
}

void TextBuffer::append(char c) noexcept {
  append(&c, 1);
}

void TextBuffer::append(const char* text) noexcept {
  append(text, std::strlen(text));
}

void TextBuffer::append(const char* text, std::size_t length) noexcept {
  if (capacity_ == 0) {
    is_truncated_ = true;
    return;
  }
  if (const std::size_t room = capacity_ - 1 - size_; length > room) {
    is_truncated_ = true;
    length = room;
  }
  std::memcpy(buffer_ + size_, text, length);
  size_ += length;
  buffer_[size_] = '\0';
}

void TextBuffer::append_number(std::uint64_t value) noexcept {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[sizeof digits - ++count] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  append(digits + sizeof digits - count, count);
}

bool parse_decimal(const char* text, std::uint64_t* value) noexcept {
  return parse_decimal(text, std::strlen(text), value);
}

bool parse_decimal(const char* text, std::size_t length, std::uint64_t* value) noexcept {
  if (length == 0) return false;
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < length; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (result > (UINT64_MAX - digit) / 10) return false;
    result = result * 10 + digit;
  }
  *value = result;
  return true;
}

}  // namespace jaxprof

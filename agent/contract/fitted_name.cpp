#include "agent/contract/fitted_name.h"

#include <cstring>

namespace jaxprof {
namespace {

// FNV-1a of 64 bits, which takes one byte at a time and so needs no copy of a text of any length.
constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

}  // namespace

FittedName::FittedName(char* buffer, std::size_t capacity) noexcept
    : buffer_(buffer), capacity_(capacity), hash_(kFnvBasis) {
  std::memset(buffer_, 0, capacity_);
}

void FittedName::append(char c) noexcept {
  hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kFnvPrime;
  if (n_appended_ + 1 < capacity_) buffer_[n_appended_] = file_name_character(c);
  ++n_appended_;
}

void FittedName::append(const char* text) noexcept {
  append(text, std::strlen(text));
}

void FittedName::append(const char* text, std::size_t length) noexcept {
  for (std::size_t i = 0; i < length; ++i) append(text[i]);
}

void FittedName::append_number(std::uint64_t value) noexcept {
  char digits[24];
  TextBuffer out(digits, sizeof digits);
  out.append_number(value);
  append(digits);
}

void FittedName::finish() noexcept {
  if (n_appended_ < capacity_) return;
  char* at = buffer_ + capacity_ - 1 - kTailBytes;
  *at++ = '-';
  for (int shift = 60; shift >= 0; shift -= 4) *at++ = "0123456789abcdef"[(hash_ >> shift) & 0xf];
}

char file_name_character(char c) noexcept {
  const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                        (c != '\0' && std::strchr("._-+=,@:", c) != nullptr);
  return is_plain ? c : '_';
}

void append_file_name(TextBuffer* out, const char* text) noexcept {
  for (; *text != '\0'; ++text) out->append(file_name_character(*text));
}

}  // namespace jaxprof

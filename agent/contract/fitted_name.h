// Runs are named after what launchers tell: hosts, ids, addresses, one behind the other. That may be longer than a file
// name has room for, and what tells two runs apart may be the last of it (two of PRRTE's namespaces differ in a process
// id behind a host's name). So a name that does not fit is cut, and ends with a hash of all that it was to hold:
// different texts have different names, and equal ones the same on every rank. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/text.h"

namespace jaxprof {

class FittedName {
 public:
  // Of '-' and the hash in hexadecimal digits.
  static constexpr std::size_t kTailBytes = 17;

  // `buffer` has `capacity` bytes, more than kTailBytes, is filled with zeros here and outlives this.
  FittedName(char* buffer, std::size_t capacity) noexcept;

  // Characters that do not belong into a file name become '_', as in append_file_name.
  void append(char c) noexcept;
  void append(const char* text) noexcept;
  void append(const char* text, std::size_t length) noexcept;
  void append_number(std::uint64_t value) noexcept;

  bool is_empty() const noexcept { return n_appended_ == 0; }

  // Puts the hash in if the name was cut. To be called once, when all is appended.
  void finish() noexcept;

 private:
  char* buffer_;
  std::size_t capacity_;
  std::size_t n_appended_ = 0;
  std::uint64_t hash_;
};

// `c` itself if it is a letter, a digit, '.', '_', '-', '+', '=', ',', '@' or ':', else '_'.
char file_name_character(char c) noexcept;

// Appends `text` by file_name_character.
void append_file_name(TextBuffer* out, const char* text) noexcept;

}  // namespace jaxprof

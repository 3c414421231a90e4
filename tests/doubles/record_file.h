// A recorder stands where the profiler would: it is loaded into a program that believes it talks to the real thing,
// and its only product is the list of what it was told. This file is that list: text lines of tab-separated
// `key=value` fields, one write(2) a line on a file opened with O_APPEND, so that lines of several threads, of a
// forked child and of a killed process stay whole. It is a test double: it allocates and makes system calls freely.
#pragma once

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace jaxprof::doubles {

// CLOCK_MONOTONIC_RAW in nanoseconds.
inline std::int64_t monotonic_raw_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// One line: the time, the thread and what happened, then fields in the order they are added.
class RecordLine {
 public:
  explicit RecordLine(std::string_view what) {
    add("t_ns", std::to_string(monotonic_raw_ns()));
    add("pid", std::to_string(getpid()));
    add("tid", std::to_string(gettid()));
    add("what", what);
  }

  RecordLine& add(std::string_view key, std::string_view value) {
    if (!text_.empty()) {
      text_ += '\t';
    }
    text_ += key;
    text_ += '=';
    for (const char c : value) {  // a tab or newline in a name would break the line apart
      text_ += (c == '\t' || c == '\n') ? ' ' : c;
    }
    return *this;
  }
  // A null pointer is written as `(null)`, which is not the same as an empty string.
  RecordLine& text(std::string_view key, const char* value) {
    return add(key, value == nullptr ? std::string_view("(null)") : std::string_view(value));
  }
  RecordLine& number(std::string_view key, std::int64_t value) { return add(key, std::to_string(value)); }
  RecordLine& unsigned_number(std::string_view key, std::uint64_t value) { return add(key, std::to_string(value)); }
  RecordLine& hex(std::string_view key, std::uint64_t value) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
    return add(key, digits);
  }
  RecordLine& pointer(std::string_view key, const void* value) {
    return hex(key, reinterpret_cast<std::uintptr_t>(value));
  }
  // `size` bytes as pairs of hexadecimal digits, in memory order.
  RecordLine& bytes(std::string_view key, const void* data, std::size_t size) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string digits;
    const auto* const begin = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) {
      digits += kDigits[begin[i] >> 4U];
      digits += kDigits[begin[i] & 15U];
    }
    return add(key, digits);
  }

  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// Where lines go. With an empty path nothing is written. Never closed before the process ends: late callbacks are
// normal. Any thread may write.
class RecordFile {
 public:
  explicit RecordFile(const std::string& path)
      : descriptor_(path.empty() ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {}

  // The file that the environment variable `variable` names; `%p` in it becomes the process id, so that the ranks of
  // a job get a file each.
  static RecordFile from_environment(const char* variable) {
    const char* const pattern = std::getenv(variable);
    std::string path(pattern == nullptr ? "" : pattern);
    if (const auto at = path.find("%p"); at != std::string::npos) {
      path.replace(at, 2, std::to_string(getpid()));
    }
    return RecordFile(path);
  }

  bool is_open() const { return descriptor_ >= 0; }

  void write(const RecordLine& line) const {
    if (descriptor_ < 0) {
      return;
    }
    const std::string text = line.str() + '\n';
    if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::fputs("a record line could not be written whole\n", stderr);
    }
  }

 private:
  int descriptor_;
};

}  // namespace jaxprof::doubles

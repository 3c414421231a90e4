// Fuzz input as a spool. A fuzzer cannot guess checksums, so most inputs are recipes: `u8 kind, u16 length, payload` a
// block, framed here with the right headers, so that what is fuzzed is every parser behind the frame. An input whose
// first byte is odd is a file as it is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace jaxprof::fuzz {

std::string spool_of(std::span<const std::uint8_t> input);

// The recipe that gives `spool`, which must be whole; for seeds.
std::string recipe_of(std::string_view spool);

// A file in memory, under a path that can be opened.
class MemoryPath {
 public:
  explicit MemoryPath(std::string_view content);
  MemoryPath(const MemoryPath&) = delete;
  MemoryPath& operator=(const MemoryPath&) = delete;
  ~MemoryPath();
  const std::string& path() const { return path_; }

 private:
  int fd_;
  std::string path_;
};

}  // namespace jaxprof::fuzz

// A spool as bytes in memory, block by block, so that a test or a fuzz target can build any of them without a process
// to record. The frame is right unless the caller breaks it afterwards; payloads are whatever is given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/spool/block.h"

namespace jaxprof::test {

class SpoolBytes {
 public:
  explicit SpoolBytes(std::uint64_t file_id = 1, std::uint32_t version = spool::kFormatVersion);

  void add(spool::BlockKind kind, std::string_view payload);
  // Leaves a gap of `count` in the sequence.
  void skip_sequence(std::uint32_t count) { sequence_ += count; }
  const std::string& bytes() const { return bytes_; }
  // Offset of the end of each block, in order.
  const std::vector<std::size_t>& block_ends() const { return block_ends_; }

 private:
  std::string bytes_;
  std::uint32_t sequence_ = 0;
  std::vector<std::size_t> block_ends_;
};

template <typename T>
void append_bytes(std::string* to, const T& value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::span<const std::uint8_t> as_span(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void write_file(const std::string& path, std::string_view content);

}  // namespace jaxprof::test

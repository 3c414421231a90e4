// Shuffled columns are planes of bytes, each of its own kind: the low bytes of times are noise, the high ones a single
// value, and in between are patterns. A general compressor treats them alike and takes as long for noise and for
// nothing as for what can be made smaller: libdeflate's fastest level takes twice as long as this and makes 5 % more of
// it. Here each plane becomes a deflate block of the kind that suits it: its own bytes, codes for single bytes,
// or matches. The result is a zlib stream to every reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merge/runfile/bit_writer.h"
#include "merge/runfile/huffman_code.h"
#include "merge/runfile/plane_matches.h"

namespace jaxprof::runfile {

// One thread. What comes out depends on what goes in alone, on any machine.
class PlaneDeflater {
 public:
  // The zlib stream of `bytes`, planes of `plane_bytes` each. Valid until the next call.
  std::span<const std::byte> deflate(std::span<const std::byte> bytes, std::size_t plane_bytes);

 private:
  void add_block(BitWriter& out, std::span<const std::byte> bytes, bool is_last);

  std::vector<std::byte> out_;
  MatchFinder finder_;
};

}  // namespace jaxprof::runfile

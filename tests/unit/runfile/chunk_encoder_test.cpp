// The encoder against definitions of its own: the shuffle by hand, the stream by zlib.
#include "merge/runfile/chunk_encoder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <random>

namespace jaxprof::runfile {
namespace {

Bytes copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Shuffled, PutsEqualBytesOfAllElementsTogether) {
  EXPECT_EQ(shuffled(bytes_of({1, 2, 3, 4, 5, 6, 7, 8}), 4), bytes_of({1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(shuffled(bytes_of({1, 2, 3, 4, 5, 6}), 3), bytes_of({1, 4, 2, 5, 3, 6}));
}

TEST(Shuffled, TakesAnyNumberOfElements) {
  std::mt19937 random{3};
  for (const std::size_t element_bytes : {1UL, 2UL, 4UL, 8UL, 12UL}) {
    for (std::size_t n = 0; n < 50; ++n) {
      Bytes raw(element_bytes * n);
      for (auto& byte : raw) byte = static_cast<std::byte>(random());
      Bytes expected(raw.size());
      for (std::size_t i = 0; i < raw.size(); ++i) expected[i % element_bytes * n + i / element_bytes] = raw[i];
      EXPECT_EQ(shuffled(raw, element_bytes), expected) << n << " of " << element_bytes;
    }
  }
}

TEST(ChunkEncoder, LeavesElementsAsTheyAreWithoutCompression) {
  const Bytes raw = bytes_of({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(copy_of(ChunkEncoder{Compression::kNone}.encode(raw, 4)), raw);
}

TEST(ChunkEncoder, MakesStreamsThatZlibReads) {
  std::mt19937 random{7};
  ChunkEncoder encoder;
  for (const std::size_t element_bytes : {1UL, 2UL, 4UL, 8UL, 12UL}) {
    Bytes raw(element_bytes * 10'007);
    for (auto& byte : raw) byte = static_cast<std::byte>(random() % 5);
    const auto encoded = encoder.encode(raw, element_bytes);
    EXPECT_LT(encoded.size(), raw.size());
    Bytes inflated(raw.size());
    uLongf length = inflated.size();
    ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(inflated.data()), &length,
                         reinterpret_cast<const Bytef*>(encoded.data()), encoded.size()),
              Z_OK);
    EXPECT_EQ(inflated, element_bytes > 1 ? shuffled(raw, element_bytes) : raw);
  }
}

TEST(ChunkEncoder, MakesTheSameStreamOfAConstantChunkEveryTime) {
  ChunkEncoder encoder;
  Bytes zeros(8 * 1000);
  Bytes ones(8 * 1000, std::byte{1});
  const Bytes first = copy_of(encoder.encode(zeros, 8));
  EXPECT_NE(copy_of(encoder.encode(ones, 8)), first);
  EXPECT_EQ(copy_of(encoder.encode(zeros, 8)), first);
  zeros.back() = std::byte{9};
  EXPECT_NE(copy_of(encoder.encode(zeros, 8)), first);
}

TEST(ChunkEncoder, TakesNoiseThatDoesNotShrink) {
  std::mt19937 random{11};
  Bytes raw(8 * 4096);
  for (auto& byte : raw) byte = static_cast<std::byte>(random());
  ChunkEncoder encoder;
  const auto encoded = encoder.encode(raw, 8);
  Bytes inflated(raw.size());
  uLongf length = inflated.size();
  ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(inflated.data()), &length,
                       reinterpret_cast<const Bytef*>(encoded.data()), encoded.size()),
            Z_OK);
  EXPECT_EQ(inflated, shuffled(raw, 8));
}

}  // namespace
}  // namespace jaxprof::runfile

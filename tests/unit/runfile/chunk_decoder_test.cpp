// The decoder against the encoder, and against streams that are not what they should be.
#include "merge/runfile/chunk_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "merge/runfile/chunk_encoder.h"

namespace jaxprof::runfile {
namespace {

using testing::HasSubstr;

Bytes noise(std::size_t size, unsigned n_values, unsigned seed) {
  std::mt19937 random{seed};
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() % n_values);
  return bytes;
}

Bytes encoded(const Bytes& elements, std::size_t element_bytes, Compression compression = Compression::kGzip) {
  ChunkEncoder encoder(compression);
  const auto bytes = encoder.encode(elements, element_bytes);
  return {bytes.begin(), bytes.end()};
}

ChunkFilters filters_for(std::size_t element_bytes) {
  return {.is_shuffled = element_bytes > 1, .is_deflated = true};
}

std::string refusal(const Bytes& bytes, std::size_t size, ChunkFilters filters) {
  Bytes elements(size);
  const auto status = ChunkDecoder{}.decode(bytes, filters, 8, elements);
  return status ? "no error" : status.error().message;
}

TEST(ChunkDecoder, GivesBackWhatTheEncoderTook) {
  ChunkDecoder decoder;
  for (const std::size_t element_bytes : {1UL, 2UL, 4UL, 8UL, 12UL}) {
    for (const std::size_t n : {1UL, 15UL, 16UL, 17UL, 4'099UL}) {
      const Bytes raw = noise(n * element_bytes, 7, 5);
      Bytes elements(raw.size());
      ASSERT_TRUE(decoder.decode(encoded(raw, element_bytes), filters_for(element_bytes), element_bytes, elements));
      EXPECT_EQ(elements, raw) << n << " of " << element_bytes;
    }
  }
}

TEST(ChunkDecoder, TakesChunksWithoutFilters) {
  const Bytes raw = noise(80, 256, 6);
  Bytes elements(raw.size());
  ASSERT_TRUE(ChunkDecoder{}.decode(encoded(raw, 8, Compression::kNone), {}, 8, elements));
  EXPECT_EQ(elements, raw);
}

TEST(ChunkDecoder, RefusesWhatIsNoStream) {
  EXPECT_THAT(refusal(noise(100, 256, 1), 80, filters_for(8)), HasSubstr("is not a whole zlib stream"));
  EXPECT_THAT(refusal({}, 80, filters_for(8)), HasSubstr("is not a whole zlib stream"));
}

TEST(ChunkDecoder, RefusesAStreamThatIsCut) {
  Bytes stream = encoded(noise(8'000, 7, 2), 8);
  stream.resize(stream.size() / 2);
  EXPECT_THAT(refusal(stream, 8'000, filters_for(8)), HasSubstr("is not a whole zlib stream"));
}

TEST(ChunkDecoder, RefusesAnotherLength) {
  const Bytes stream = encoded(noise(800, 7, 3), 8);
  EXPECT_THAT(refusal(stream, 808, filters_for(8)), HasSubstr("does not inflate to 808 bytes"));
  EXPECT_THAT(refusal(stream, 792, filters_for(8)), HasSubstr("does not inflate to 792 bytes"));
  EXPECT_THAT(refusal(noise(80, 7, 4), 88, {}), HasSubstr("has 80 bytes instead of 88"));
}

}  // namespace
}  // namespace jaxprof::runfile

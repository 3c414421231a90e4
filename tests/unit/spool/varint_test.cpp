#include "agent/spool/varint.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace jaxprof::spool {
namespace {

TEST(Varint, GivesBackWhatWasPut) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random() >> (random() % 64);
    std::array<std::uint8_t, kMaxVarintBytes> bytes{};
    const std::uint8_t* end = put_varint(bytes.data(), value);
    std::uint64_t read = ~value;
    ASSERT_EQ(get_varint(bytes.data(), end, &read), end);
    ASSERT_EQ(read, value);
  }
}

TEST(Varint, IsTheSameWithoutABranchAByte) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power + 1, power | power >> 1 | power >> 5 | power >> 9}) {
      std::uint8_t plain[kMaxVarintBytes + 8] = {};
      std::uint8_t wide[kMaxVarintBytes + 8] = {};
      const auto length = put_varint(plain, value) - plain;
      ASSERT_EQ(put_varint_wide(wide, value) - wide, length) << value;
      ASSERT_EQ(std::memcmp(plain, wide, static_cast<std::size_t>(length)), 0) << value;
    }
  }
}

TEST(Varint, IsReadTheSameWithoutABranchAByte) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    // Any number of bytes, also such as nobody writes: a number that ends in groups of 0.
    const std::size_t length = 1 + random() % 9;
    for (std::size_t at = 0; at < length; ++at) bytes[at] |= 0x80;
    bytes[length - 1] &= 0x7f;
    std::uint64_t plain = 0;
    std::uint64_t wide = 0;
    const std::uint8_t* next = get_varint(bytes.data(), bytes.data() + bytes.size(), &plain);
    const std::uint8_t* wide_next = get_varint_wide(bytes.data(), &wide);
    ASSERT_EQ(wide_next, length <= 8 ? next : nullptr) << length;
    if (length <= 8) {
      ASSERT_EQ(wide, plain) << length;
    }
  }
}

TEST(MadeVarint, WritesWhatPuttingWrites) {
  for (unsigned bit = 0; bit < 48; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power + 1, power | power >> 1 | power >> 5 | power >> 9}) {
      std::uint8_t plain[kMaxVarintBytes] = {};
      std::uint8_t made[kMaxVarintBytes] = {};
      const auto length = put_varint(plain, value) - plain;
      ASSERT_EQ(MadeVarint(value).put(made) - made, length) << value;
      ASSERT_EQ(std::memcmp(plain, made, static_cast<std::size_t>(length)), 0) << value;
      ASSERT_EQ(MadeVarint(value).value(), static_cast<std::uint32_t>(value));
    }
  }
  std::uint8_t nothing[8];
  EXPECT_EQ(MadeVarint().put(nothing), nothing);
}

TEST(CountedVarint, WritesWhatPuttingWritesWhateverCameBefore) {
  std::mt19937_64 random(2);
  CountedVarint counted;
  std::uint64_t value = 0;
  for (int i = 0; i < 200'000; ++i) {
    // Mostly counted on; now and then far away, at the edge of a length, or back.
    const auto jump = random() % 64;
    if (jump == 0) value = random() >> random() % 64;
    if (jump == 1) value = (std::uint64_t{1} << random() % 64) - random() % 3;
    if (jump == 2) value -= random() % 300;
    value += random() % 4;
    std::uint8_t plain[kMaxVarintBytes] = {};
    std::uint8_t put[kMaxVarintBytes] = {};
    const auto length = put_varint(plain, value) - plain;
    ASSERT_EQ(counted.put(put, value) - put, length) << value;
    ASSERT_EQ(std::memcmp(plain, put, static_cast<std::size_t>(length)), 0) << value;
  }
}

TEST(Varint, TakesSevenBitsAByte) {
  std::array<std::uint8_t, kMaxVarintBytes> bytes{};
  const auto length = [&bytes](std::uint64_t value) { return put_varint(bytes.data(), value) - bytes.data(); };
  EXPECT_EQ(length(0), 1);
  EXPECT_EQ(length(127), 1);
  EXPECT_EQ(length(128), 2);
  EXPECT_EQ(length(UINT64_MAX), static_cast<std::ptrdiff_t>(kMaxVarintBytes));
}

TEST(Varint, RefusesWhatIsCutOffAtEveryLength) {
  std::array<std::uint8_t, kMaxVarintBytes> bytes{};
  const std::uint8_t* end = put_varint(bytes.data(), UINT64_MAX);
  std::uint64_t value = 5;
  for (const std::uint8_t* cut = bytes.data(); cut < end; ++cut) {
    EXPECT_EQ(get_varint(bytes.data(), cut, &value), nullptr);
  }
  EXPECT_EQ(value, 5u);
}

TEST(Varint, RefusesMoreThan64Bits) {
  std::uint64_t value = 0;
  std::vector<std::uint8_t> bytes(9, 0xff);
  bytes.push_back(2);
  EXPECT_EQ(get_varint(bytes.data(), bytes.data() + bytes.size(), &value), nullptr);
  bytes.assign(20, 0x80);
  EXPECT_EQ(get_varint(bytes.data(), bytes.data() + bytes.size(), &value), nullptr);
}

TEST(FoldSign, KeepsSmallNumbersOfEitherSignShort) {
  EXPECT_EQ(fold_sign(0), 0u);
  EXPECT_EQ(fold_sign(-1), 1u);
  EXPECT_EQ(fold_sign(1), 2u);
  EXPECT_EQ(fold_sign(-2), 3u);
  for (const std::int64_t value : {INT64_MIN, INT64_MIN + 1, std::int64_t{-77}, std::int64_t{0}, INT64_MAX}) {
    EXPECT_EQ(unfold_sign(fold_sign(value)), value);
  }
}

}  // namespace
}  // namespace jaxprof::spool

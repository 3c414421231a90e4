// What zlib makes of a stream is what went in, for planes of every kind; and each kind takes as little as it should.
#include "merge/runfile/plane_deflater.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace jaxprof::runfile {
namespace {

using Plane = std::vector<std::byte>;

Plane plane_of(std::size_t n, const std::function<std::uint64_t(std::size_t)>& value) {
  Plane plane(n);
  for (std::size_t i = 0; i < n; ++i) plane[i] = static_cast<std::byte>(value(i));
  return plane;
}

// The stream's length; 0, and the test failed, if zlib gives back something else.
std::size_t length_of(std::span<const std::byte> bytes, std::size_t plane_bytes) {
  PlaneDeflater deflater;
  const auto stream = deflater.deflate(bytes, plane_bytes);
  Plane inflated(bytes.size() + 1);
  uLongf length = inflated.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(inflated.data()), &length,
                                reinterpret_cast<const Bytef*>(stream.data()), stream.size());
  inflated.resize(length);
  EXPECT_EQ(result, Z_OK);
  const bool is_same = std::equal(inflated.begin(), inflated.end(), bytes.begin(), bytes.end());
  EXPECT_TRUE(is_same);
  return result == Z_OK && is_same ? stream.size() : 0;
}

constexpr std::size_t kRows = 131'072;

TEST(PlaneDeflater, MakesNothingOfAConstant) {
  EXPECT_LT(length_of(plane_of(kRows, [](std::size_t) { return 77; }), kRows), 200U);
  EXPECT_LT(length_of(plane_of(8 * kRows, [](std::size_t i) { return i / kRows; }), kRows), 2000U);
}

TEST(PlaneDeflater, AddsAlmostNothingToNoise) {
  std::mt19937_64 random{1};
  EXPECT_LT(length_of(plane_of(kRows, [&](std::size_t) { return random(); }), kRows), kRows + 40);
}

// A match costs more than the few bits of each of these bytes.
TEST(PlaneDeflater, GivesFewValuesInNoOrderTheirOwnCodes) {
  std::mt19937_64 random{2};
  EXPECT_LT(length_of(plane_of(kRows, [&](std::size_t) { return random() % 8; }), kRows), kRows * 7 / 16);
}

// A plane that looks like noise for a whole step: by then it is looked at in few places only.
TEST(PlaneDeflater, FindsPatternsThatComeAgain) {
  for (const std::size_t period : {300UL, 4'999UL, 5'000UL, 5'003UL, 10'000UL, 16'384UL}) {
    std::mt19937_64 random{3};
    const Plane step = plane_of(period, [&](std::size_t) { return random(); });
    const Plane plane = plane_of(kRows, [&](std::size_t i) { return static_cast<std::uint64_t>(step[i % period]); });
    EXPECT_LT(length_of(plane, kRows), period + 3'000) << period;
  }
}

// One that is out of the window is none.
TEST(PlaneDeflater, LooksNoFurtherBackThanAReaderRemembers) {
  std::mt19937_64 random{4};
  for (const std::size_t period : {32'767UL, 32'768UL, 32'769UL, 40'000UL}) {
    const Plane step = plane_of(period, [&](std::size_t) { return random(); });
    const Plane plane = plane_of(kRows, [&](std::size_t i) { return static_cast<std::uint64_t>(step[i % period]); });
    EXPECT_GT(length_of(plane, kRows), period <= 32'768 ? period : kRows) << period;
  }
}

// Whole codes grow longer than 15 bits unless they are kept from it.
TEST(PlaneDeflater, TakesCountsThatDoubleFromValueToValue) {
  Plane plane;
  for (unsigned value = 0; value < 17; ++value) plane.insert(plane.end(), std::size_t{1} << value, std::byte(value));
  std::mt19937_64 random{5};
  std::shuffle(plane.begin(), plane.end(), random);
  EXPECT_GT(length_of(plane, plane.size()), 0U);
}

TEST(PlaneDeflater, TakesPlanesOfAnyLength) {
  std::mt19937_64 random{6};
  for (std::size_t n = 0; n < 300; ++n) {
    EXPECT_GT(length_of(plane_of(3 * n, [&](std::size_t i) { return i % 7 == 0 ? random() : i / 5; }), n), 0U) << n;
  }
  for (const std::size_t n : {4096UL, 4097UL, 65'535UL, 65'536UL, 131'070UL, 131'071UL, 400'000UL}) {
    EXPECT_GT(length_of(plane_of(n, [&](std::size_t) { return random(); }), n), 0U) << n;
  }
}

// Planes of all kinds behind each other, in streams of random length.
TEST(PlaneDeflater, TakesAnyMixture) {
  std::mt19937_64 random{7};
  for (int turn = 0; turn < 400; ++turn) {
    const std::size_t n = random() % (turn % 10 == 0 ? 140'000 : 3'000);
    const std::size_t n_planes = 1 + random() % 9;
    Plane bytes;
    for (std::size_t i = 0; i < n_planes; ++i) {
      const std::uint64_t kind = random() % 7;
      const std::size_t period = 1 + random() % 2'000;
      const std::uint64_t n_values = 1 + random() % 8;
      const std::size_t first = bytes.size();
      const Plane plane = plane_of(n, [&](std::size_t at) -> std::uint64_t {
        switch (kind) {
          case 0:
            return random();
          case 1:
            return 7;
          case 2:
            return at >> 3U;
          case 3:
            return random() % n_values;
          case 4:
            return at < period || random() % 50 == 0 ? random() : at % period * 131 >> 3U;
          case 5:
            return random() % 100 == 0 ? random() : 3;
          default:
            return (first + at * at) >> 4U;
        }
      });
      bytes.insert(bytes.end(), plane.begin(), plane.end());
    }
    ASSERT_GT(length_of(bytes, n), 0U) << turn;
  }
}

}  // namespace
}  // namespace jaxprof::runfile

#include "agent/spool/clock_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace jaxprof::spool {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

struct Decoded {
  std::vector<ClockReading> readings;
  std::vector<ProbeBurst> bursts;
};

// Decodes a copy that ends where its allocation does, so that a sanitizer sees a read beyond.
bool decode(std::span<const std::uint8_t> payload, Decoded* into) {
  const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[payload.size()]);
  std::copy(payload.begin(), payload.end(), copy.get());
  return decode_clock_block({copy.get(), payload.size()},
                            {[into](const ClockReading& reading) { into->readings.push_back(reading); },
                             [into](const ProbeBurst& burst) { into->bursts.push_back(burst); }});
}

ProbeBurst random_burst(std::mt19937_64* random) {
  ProbeBurst burst;
  burst.peer = static_cast<std::uint32_t>((*random)());
  burst.burst = static_cast<std::uint32_t>((*random)());
  burst.kind = static_cast<BurstKind>(1 + (*random)() % 4);
  burst.sent = static_cast<std::uint32_t>((*random)());
  burst.exchanges.resize((*random)() % 20);
  for (ProbeExchange& exchange : burst.exchanges) {
    exchange.sequence = static_cast<std::uint32_t>((*random)());
    for (std::int64_t& stamp : exchange.stamps_ns) {
      if ((*random)() % 4 != 0) stamp = static_cast<std::int64_t>((*random)() >> ((*random)() % 64));
    }
  }
  return burst;
}

TEST(ClockCodec, RandomReadingsAndBurstsComeBackAsTheyWent) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 60; ++round) {
    Decoded wanted;
    std::vector<std::uint8_t> payload;
    for (int section = 0; section < 6; ++section) {
      std::vector<ClockReading> readings(random() % 12);
      for (ClockReading& reading : readings) {
        reading = {static_cast<std::int64_t>(random()), static_cast<std::int64_t>(random()),
                   static_cast<std::int64_t>(random()), static_cast<std::uint32_t>(random())};
      }
      append_readings(readings, &payload);
      wanted.readings.insert(wanted.readings.end(), readings.begin(), readings.end());
      wanted.bursts.push_back(random_burst(&random));
      append_burst(wanted.bursts.back(), &payload);
    }
    Decoded found;
    ASSERT_TRUE(decode(payload, &found));
    EXPECT_THAT(found.readings, ElementsAreArray(wanted.readings));
    EXPECT_THAT(found.bursts, ElementsAreArray(wanted.bursts));
  }
}

TEST(ClockCodec, ABurstThatIsCutIsNotVisited) {
  ProbeBurst burst;
  burst.exchanges.resize(3);
  for (ProbeExchange& exchange : burst.exchanges) exchange.at(Stamp::kClientSendRaw) = 1'000'000;
  std::vector<std::uint8_t> payload;
  append_burst(burst, &payload);
  for (std::size_t length = 1; length < payload.size(); ++length) {
    Decoded found;
    EXPECT_FALSE(decode(std::span(payload).first(length), &found)) << length;
    EXPECT_THAT(found.bursts, IsEmpty());
  }
}

TEST(ClockCodec, NoPayloadIsNoDamage) {
  Decoded found;
  EXPECT_TRUE(decode({}, &found));
}

TEST(ClockCodec, MoreExchangesThanABurstHasAreDamage) {
  // section 2, peer 0, burst 0, kind 1, sent 0, 257 exchanges
  const std::vector<std::uint8_t> payload = {2, 0, 0, 1, 0, 0x81, 0x02};
  Decoded found;
  EXPECT_FALSE(decode(payload, &found));
}

TEST(ClockCodec, AnUnknownSectionIsDamage) {
  Decoded found;
  EXPECT_FALSE(decode(std::vector<std::uint8_t>{3, 0}, &found));
}

}  // namespace
}  // namespace jaxprof::spool

#include "agent/spool/sample_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "agent/spool/node_record.h"

namespace jaxprof::spool {
namespace {

using testing::ElementsAre;

struct KeptRow {
  std::uint32_t stream;
  SampleRow row;
  std::vector<std::uint64_t> values;
};

// Decodes a copy that ends where its allocation does, so that a sanitizer sees a read beyond.
bool decode_copy(SampleDecoder* decoder, std::span<const std::uint8_t> payload, std::vector<KeptRow>* rows) {
  const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[payload.size()]);
  std::copy(payload.begin(), payload.end(), copy.get());
  return decoder->decode({copy.get(), payload.size()}, [&](std::uint32_t stream, const SampleRow& row) {
    rows->push_back({stream, row, {row.values.begin(), row.values.end()}});
  });
}

SampleRow row_of(std::uint64_t stamp, const std::vector<std::uint64_t>& values, bool is_partial = false) {
  return {stamp, 7, 0, is_partial, values};
}

TEST(SampleCodec, RandomRowsComeBackAsTheyWent) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    const std::size_t columns = random() % 40;
    const std::size_t partial = columns == 0 ? 0 : random() % (columns + 1);
    SampleEncoder encoder(static_cast<std::uint32_t>(random()), columns, partial);
    SampleDecoder decoder;
    std::vector<KeptRow> wanted;
    std::vector<KeptRow> found;
    std::vector<std::uint64_t> state(columns);
    std::uint64_t stamp = random();
    for (int section = 0; section < 6; ++section) {
      if (random() % 4 == 0) encoder.restart();
      for (std::uint64_t i = random() % 12; i > 0; --i) {
        const bool is_partial = random() % 3 != 0;
        for (std::uint64_t& value : state) {
          const auto what = random() % 8;
          value = what == 0 ? kMissingSample : what == 1 ? random() : value + (what == 2 ? 0 : random() >> 40);
        }
        stamp += random() >> (random() % 64);
        std::vector<std::uint64_t> values(state.begin(),
                                          state.begin() + static_cast<std::ptrdiff_t>(is_partial ? partial : columns));
        const SampleRow row{stamp, static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random() >> 34),
                            is_partial, values};
        encoder.add(row);
        wanted.push_back({0, row, values});
      }
      std::vector<std::uint8_t> payload;
      const std::size_t room = encoder.max_section_bytes();
      encoder.append_section(&payload);
      ASSERT_LE(payload.size(), room);
      ASSERT_TRUE(decode_copy(&decoder, payload, &found));
    }
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].row.stamp, wanted[i].row.stamp);
      EXPECT_EQ(found[i].row.read_us, wanted[i].row.read_us);
      EXPECT_EQ(found[i].row.flags, wanted[i].row.flags);
      EXPECT_EQ(found[i].row.is_partial, wanted[i].row.is_partial);
      EXPECT_EQ(found[i].values, wanted[i].values);
    }
    EXPECT_EQ(decoder.skipped_sections(), 0U);
  }
}

TEST(SampleCodec, TwoStreamsInOnePayloadKeepApart) {
  SampleEncoder first(3, 1, 1);
  SampleEncoder second(4, 2, 1);
  first.add(row_of(100, {5}));
  second.add(row_of(101, {6}, true));
  second.add(row_of(201, {8, 9}));
  std::vector<std::uint8_t> payload;
  first.append_section(&payload);
  second.append_section(&payload);
  SampleDecoder decoder;
  std::vector<KeptRow> rows;
  ASSERT_TRUE(decode_copy(&decoder, payload, &rows));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].stream, 3U);
  EXPECT_THAT(rows[1].values, ElementsAre(6));
  EXPECT_EQ(rows[2].stream, 4U);
  EXPECT_THAT(rows[2].values, ElementsAre(8, 9));
}

TEST(SampleCodec, WhoMissesASectionGoesOnAtTheNextBeginning) {
  SampleEncoder encoder(1, 1, 1);
  std::vector<std::vector<std::uint8_t>> sections;
  for (std::uint64_t i = 0; i < 6; ++i) {
    if (i == 4) encoder.restart();
    encoder.add(row_of(10 * i, {1000 + i}));
    encoder.append_section(&sections.emplace_back());
  }
  SampleDecoder decoder;
  std::vector<KeptRow> rows;
  for (const std::size_t i : {0U, 1U, 3U, 4U, 5U}) ASSERT_TRUE(decode_copy(&decoder, sections[i], &rows));
  std::vector<std::uint64_t> values;
  for (const KeptRow& row : rows) values.push_back(row.values[0]);
  EXPECT_THAT(values, ElementsAre(1000, 1001, 1004, 1005));
  EXPECT_EQ(decoder.skipped_sections(), 1U);
}

TEST(SampleCodec, EveryCutAndEveryFlippedByteIsToldOrHarmless) {
  SampleEncoder encoder(2, 9, 4);
  for (std::uint64_t i = 0; i < 20; ++i) {
    encoder.add(row_of(1000 * i, {i, 2 * i, i * i, 7, 0, i, i, i, kMissingSample}));
  }
  std::vector<std::uint8_t> payload;
  encoder.append_section(&payload);
  for (std::size_t cut = 1; cut < payload.size(); ++cut) {
    SampleDecoder decoder;
    std::vector<KeptRow> rows;
    EXPECT_FALSE(decode_copy(&decoder, std::span(payload).first(cut), &rows)) << cut;
  }
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::vector<std::uint8_t> flipped = payload;
      flipped[at] = static_cast<std::uint8_t>(flipped[at] ^ 1U << bit);
      SampleDecoder decoder;
      std::vector<KeptRow> rows;
      decode_copy(&decoder, flipped, &rows);
      EXPECT_LE(rows.size(), payload.size());
    }
  }
}

// 22 counters ten times a second, 12 of them moving at the line rate of 100 Gbit/s with ticks that are late by up to
// half a millisecond: what FORMAT.md promises of the size.
TEST(SampleCodec, ARowOfABusyEfaDeviceTakesLessThan50Bytes) {
  std::mt19937_64 random(1);
  SampleEncoder encoder(0, 22, 22);
  std::vector<std::uint64_t> values(22);
  std::vector<std::uint8_t> payload;
  constexpr std::uint64_t kRows = 3000;
  std::uint64_t before_ns = 0;
  for (std::uint64_t i = 0; i < kRows; ++i) {
    const std::uint64_t now_ns = 100'000'000 * i + random() % 500'000;
    for (std::size_t column = 0; column < 12; ++column) {
      const double bytes = 12.5 * static_cast<double>(now_ns - before_ns);
      values[column] += static_cast<std::uint64_t>(column < 6 ? bytes : bytes / 4096);
    }
    before_ns = now_ns;
    encoder.add({now_ns, static_cast<std::uint32_t>(300 + random() % 100), 0, false, values});
    if (i % 10 != 9) continue;
    encoder.append_section(&payload);
    if (i % 100 == 99) encoder.restart();
  }
  EXPECT_LT(static_cast<double>(payload.size()) / kRows, 50.0);
}

}  // namespace
}  // namespace jaxprof::spool

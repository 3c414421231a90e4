#include "agent/spool/event_codec.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "agent/spool/varint.h"

namespace jaxprof::spool {
namespace {

// A record as it lies in a ring.
struct RingRecord {
  std::vector<std::uint64_t> words;

  RingRecord(std::uint8_t kind, std::uint32_t id, std::uint64_t stamp, const std::vector<std::uint64_t>& fields,
             const std::vector<std::uint8_t>& payload = {}) {
    const std::size_t bytes = sizeof(EventHeader) + 8 * fields.size() + payload.size();
    words.resize((bytes + 7) / 8);
    const EventHeader header{static_cast<std::uint16_t>(bytes), kind, static_cast<std::uint8_t>(fields.size()), id,
                             stamp};
    std::memcpy(words.data(), &header, sizeof header);
    if (!fields.empty()) std::memcpy(words.data() + 2, fields.data(), 8 * fields.size());
    if (!payload.empty()) std::memcpy(words.data() + 2 + fields.size(), payload.data(), payload.size());
  }
  const EventHeader& header() const { return *reinterpret_cast<const EventHeader*>(words.data()); }
};

// Decodes a copy that ends where its allocation does, so that a sanitizer sees a read beyond.
std::vector<Event> decode_copy(const std::uint8_t* bytes, std::size_t size, bool* is_damaged) {
  const std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[size]);
  if (size > 0) std::memcpy(copy.get(), bytes, size);
  EventDecoder decoder(copy.get(), size);
  std::vector<Event> events;
  Event event;
  std::uint64_t sum = 0;
  while (decoder.next(&event)) {
    for (std::size_t i = 0; i < event.payload_bytes; ++i) sum += event.payload[i];
    event.payload = nullptr;
    events.push_back(event);
  }
  EXPECT_LE(sum, size * 255);
  *is_damaged = decoder.is_damaged();
  return events;
}

class EventCodecTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(1 << 17);
  EventEncoder encoder_{buffer_.data(), buffer_.size()};
};

TEST_F(EventCodecTest, RandomEventsComeBackAsTheyWent) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<RingRecord> records;
    std::uint64_t stamp = random();
    const auto thread = static_cast<std::uint32_t>(random());
    encoder_.begin(thread, stamp);
    while (encoder_.has_room() && records.size() < 200) {
      std::vector<std::uint64_t> fields(random() % (kMaxFields + 1));
      for (std::uint64_t& field : fields) field = random() >> (random() % 64);
      std::vector<std::uint8_t> payload(random() % 4 == 0 ? random() % (kMaxPayloadBytes / 8 + 1) * 8 : 0);
      for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(random());
      stamp += random() % 3 == 0 ? random() : random() % 1000;  // also backwards, by wrapping
      records.emplace_back(static_cast<std::uint8_t>(1 + random() % 100), static_cast<std::uint32_t>(random()), stamp,
                           fields, payload);
      encoder_.add(records.back().header());
    }
    ASSERT_EQ(encoder_.event_count(), records.size());
    ASSERT_LE(encoder_.size(), buffer_.size());

    EventDecoder decoder(buffer_.data(), encoder_.size());
    EXPECT_EQ(decoder.thread(), thread);
    for (const RingRecord& record : records) {
      Event event;
      ASSERT_TRUE(decoder.next(&event));
      const EventHeader& header = record.header();
      ASSERT_EQ(static_cast<std::uint8_t>(event.kind), header.kind);
      ASSERT_EQ(event.id, header.id);
      ASSERT_EQ(event.stamp, header.stamp);
      ASSERT_EQ(event.field_count, header.field_count);
      const auto* words = record.words.data() + 2;
      for (std::size_t i = 0; i < event.field_count; ++i) ASSERT_EQ(event.fields[i], words[i]);
      ASSERT_EQ(event.payload_bytes, header.bytes - sizeof header - 8 * event.field_count);
      if (event.payload_bytes > 0) {
        ASSERT_EQ(std::memcmp(event.payload, words + event.field_count, event.payload_bytes), 0);
      }
    }
    Event none;
    ASSERT_FALSE(decoder.next(&none));
    ASSERT_FALSE(decoder.is_damaged());
  }
}

TEST_F(EventCodecTest, AKernelIsTheSameBytesAsItsFields) {
  std::mt19937_64 random(4);
  std::vector<std::uint8_t> other(buffer_.size());
  EventEncoder by_fields(other.data(), other.size());
  // Mostly small, sometimes of any size, sometimes 0, as each of them decides what is written how.
  const auto number = [&random](unsigned usual_bits) {
    const std::uint64_t value = random();
    return random() % 8 == 0 ? value >> random() % 64 : random() % 8 == 0 ? 0 : value >> (64 - usual_bits);
  };
  const auto small_number = [&number](unsigned usual_bits) { return static_cast<std::uint32_t>(number(usual_bits)); };
  for (int round = 0; round < 300; ++round) {
    std::uint64_t start_ns = random();
    encoder_.begin(0, start_ns);
    by_fields.begin(0, start_ns);
    for (int i = 0; i < 100; ++i) {
      start_ns += number(14) - number(12);
      const std::uint32_t name = small_number(8), lane = small_number(3), config = small_number(8);
      const bool is_in_graph = random() % 3 == 0;
      const KernelEvent kernel{.name = MadeVarint(name),
                               .lane = MadeVarint(lane),
                               .config = MadeVarint(config),
                               .start_ns = start_ns,
                               .duration = number(15),
                               .correlation = small_number(22),
                               .graph = is_in_graph ? small_number(4) : 0,
                               .graph_node = is_in_graph ? number(36) : 0,
                               .channel = small_number(4)};
      encoder_.add(kernel);
      const std::uint64_t fields[] = {kernel.duration,   lane,         kernel.correlation, config,
                                      kernel.graph_node, kernel.graph, kernel.channel};
      by_fields.add(EventKind::kGpuKernel, name, start_ns, fields);
      ASSERT_EQ(encoder_.size(), by_fields.size());
    }
    ASSERT_EQ(std::memcmp(buffer_.data(), other.data(), encoder_.size()), 0);
    ASSERT_EQ(encoder_.event_count(), by_fields.event_count());
    ASSERT_EQ(encoder_.previous_stamp(), by_fields.previous_stamp());
  }
}

TEST_F(EventCodecTest, NoEventTakesMoreThanWhatHasRoomReserves) {
  const std::vector<std::uint64_t> fields(kMaxFields, UINT64_MAX);
  const RingRecord record(127, UINT32_MAX, 1ULL << 63, fields, std::vector<std::uint8_t>(kMaxPayloadBytes, 0xff));
  encoder_.begin(UINT32_MAX, 0);
  const std::size_t begin = encoder_.size();
  encoder_.add(record.header());
  EXPECT_LE(encoder_.size() - begin, EventEncoder::kMaxEncodedBytes);
}

TEST_F(EventCodecTest, ATypicalRangeTakesLessThanTwoFifthsOfItsRecords) {
  encoder_.begin(1, 1'000'000'000'000);
  std::size_t ring_bytes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const RingRecord push(1, 17, 1'000'000'000'000 + 2500 * i, {pack(NvtxContext{1, 2, 0})});
    const RingRecord pop(2, 1, 1'000'000'000'900 + 2500 * i, {2});
    for (const RingRecord* record : {&push, &pop}) {
      encoder_.add(record->header());
      ring_bytes += record->header().bytes;
    }
  }
  EXPECT_LT(encoder_.size() * 5, ring_bytes * 2);
}

TEST_F(EventCodecTest, MissingFieldsReadAsZero) {
  encoder_.begin(1, 0);
  encoder_.add(RingRecord(1, 2, 3, {99, 98, 97}).header());
  encoder_.add(RingRecord(1, 2, 3, {5}).header());
  EventDecoder decoder(buffer_.data(), encoder_.size());
  Event event;
  ASSERT_TRUE(decoder.next(&event));
  ASSERT_TRUE(decoder.next(&event));
  EXPECT_EQ(event.fields[0], 5u);
  EXPECT_EQ(event.fields[1], 0u);
}

TEST_F(EventCodecTest, CutAnywhereItGivesWholeEventsOnly) {
  encoder_.begin(1, 1000);
  for (std::uint64_t i = 0; i < 20; ++i) {
    encoder_.add(
        RingRecord(1, 2, 1000 + i * 300, {i, 1ULL << (3 * i)}, std::vector<std::uint8_t>(i % 3 * 8, 7)).header());
  }
  bool is_damaged = false;
  const std::vector<Event> all = decode_copy(buffer_.data(), encoder_.size(), &is_damaged);
  ASSERT_EQ(all.size(), 20u);
  EXPECT_FALSE(is_damaged);
  for (std::size_t cut = 0; cut < encoder_.size(); ++cut) {
    const std::vector<Event> some = decode_copy(buffer_.data(), cut, &is_damaged);
    ASSERT_LT(some.size(), 20u);
    for (std::size_t i = 0; i < some.size(); ++i) ASSERT_EQ(some[i].fields[1], all[i].fields[1]);
  }
}

TEST(EventDecoder, RandomBytesNeverLeadOutside) {
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::uint8_t> bytes(random() % 64);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    bool is_damaged = false;
    decode_copy(bytes.data(), bytes.size(), &is_damaged);
  }
}

TEST(EventDecoder, RefusesWhatNoWriterWrites) {
  const auto is_damaged = [](std::vector<std::uint8_t> bytes) {
    bool damaged = false;
    EXPECT_TRUE(decode_copy(bytes.data(), bytes.size(), &damaged).empty());
    return damaged;
  };
  EXPECT_TRUE(is_damaged({}));
  EXPECT_TRUE(is_damaged({0x80, 0x80, 0x80, 0x80, 0x10, 0}));              // thread 2^32
  EXPECT_TRUE(is_damaged({1, 0, 1, 17, 0, 0}));                            // 17 fields
  EXPECT_TRUE(is_damaged({1, 0, 1, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x10}));  // id 2^32
  EXPECT_TRUE(is_damaged({1, 0, 0x81, 0, 0, 0, 5, 1, 2, 3, 4}));           // payload of 5, 4 there
  EXPECT_TRUE(is_damaged({1, 0, 0x81, 0, 0, 0, 0x81, 0x20}));              // payload of 4097
}

}  // namespace
}  // namespace jaxprof::spool

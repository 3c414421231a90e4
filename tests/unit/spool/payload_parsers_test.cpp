// The small parsers of spool_reader.h: identity, records, footer, state.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "agent/spool/spool_reader.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::spool {
namespace {

using test::append_bytes;
using test::as_span;

std::string field(IdentityKey key, std::string_view value) {
  std::string bytes;
  append_bytes(&bytes, IdentityField{static_cast<std::uint16_t>(key), 0, static_cast<std::uint32_t>(value.size())});
  return bytes + std::string(value);
}

std::string state_record(StateKind kind, std::size_t bytes) {
  std::string record;
  append_bytes(&record, StateHeader{static_cast<std::uint16_t>(kind), 0, static_cast<std::uint32_t>(bytes)});
  record.resize(bytes, '.');
  return record;
}

TEST(SpoolIdentity, GivesBackWhatAWriterPut) {
  std::vector<std::uint8_t> buffer(200);
  IdentityWriter out(buffer.data(), buffer.size());
  out.text(IdentityKey::kHost, "node7");
  out.text(IdentityKey::kStem, "");
  out.number(IdentityKey::kRank, -1);
  out.number(IdentityKey::kPid, INT64_MAX);
  const SpoolIdentity identity = SpoolIdentity::parse({buffer.data(), out.size()});
  EXPECT_EQ(identity.text(IdentityKey::kHost), "node7");
  EXPECT_EQ(identity.text(IdentityKey::kStem), "");
  EXPECT_EQ(identity.number(IdentityKey::kRank), -1);
  EXPECT_EQ(identity.number(IdentityKey::kPid), INT64_MAX);
}

TEST(SpoolIdentity, LeavesOutAFieldThatDoesNotFitAndTakesTheNext) {
  std::vector<std::uint8_t> buffer(40);
  IdentityWriter out(buffer.data(), buffer.size());
  out.text(IdentityKey::kCommandLine, std::string(100, 'x').c_str());
  out.text(IdentityKey::kHost, "n");
  const SpoolIdentity identity = SpoolIdentity::parse({buffer.data(), out.size()});
  EXPECT_EQ(identity.text(IdentityKey::kCommandLine), "");
  EXPECT_EQ(identity.text(IdentityKey::kHost), "n");
}

TEST(SpoolIdentity, MissingFieldsAreEmptyAndMinusOne) {
  const SpoolIdentity identity = SpoolIdentity::parse({});
  EXPECT_EQ(identity.text(IdentityKey::kRunId), "");
  EXPECT_EQ(identity.number(IdentityKey::kRank), -1);
}

TEST(SpoolIdentity, SkipsUnknownKeysAndKeepsWhatCameBeforeACut) {
  std::string bytes = field(static_cast<IdentityKey>(500), "later") + field(IdentityKey::kHost, "n1");
  const std::string whole = bytes;
  bytes += field(IdentityKey::kRunId, "7.0.0");
  for (std::size_t cut = whole.size(); cut < bytes.size(); ++cut) {
    const SpoolIdentity identity = SpoolIdentity::parse(as_span(std::string_view(bytes).substr(0, cut)));
    EXPECT_EQ(identity.text(IdentityKey::kHost), "n1");
    EXPECT_EQ(identity.text(IdentityKey::kRunId), "");
  }
}

TEST(SpoolIdentity, ANumberOfAnotherWidthIsUnknown) {
  EXPECT_EQ(SpoolIdentity::parse(as_span(field(IdentityKey::kRank, "1234"))).number(IdentityKey::kRank), -1);
}

TEST(SpoolRecords, AnchorsAndCountersAreWholeOnesOnly) {
  std::string bytes;
  append_bytes(&bytes, AnchorRecord{1, 2, 3, 4, 5});
  append_bytes(&bytes, AnchorRecord{6, 7, 8, 9, 10});
  bytes.resize(bytes.size() - 1);
  const auto anchors = parse_anchors(as_span(bytes));
  ASSERT_EQ(anchors.size(), 1u);
  EXPECT_EQ(anchors[0].realtime_ns, 3);
  EXPECT_TRUE(parse_counters(as_span("short")).empty());
}

TEST(Footer, BringsItsCounters) {
  std::string bytes;
  append_bytes(&bytes, FooterRecord{1, 2, 30, 4, 5});
  append_bytes(&bytes, CounterRecord{0, 0, 7});
  append_bytes(&bytes, CounterRecord{3, 0, 9});
  Footer footer;
  ASSERT_TRUE(parse_footer(as_span(bytes), &footer));
  EXPECT_EQ(footer.record.events, 30u);
  ASSERT_EQ(footer.counters.size(), 2u);
  EXPECT_EQ(footer.counters[1].count, 9u);
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_FALSE(parse_footer(as_span(std::string_view(bytes).substr(0, cut)), &footer)) << cut;
  }
}

TEST(StateDecoder, WalksRecordsOfEveryLength) {
  const std::string bytes = state_record(StateKind::kString, 8) + state_record(StateKind::kSchema, 4096) +
                            state_record(static_cast<StateKind>(77), 16);
  StateDecoder decoder(as_span(bytes));
  std::vector<std::pair<int, std::size_t>> seen;
  StateKind kind{};
  std::span<const std::uint8_t> record;
  while (decoder.next(&kind, &record)) seen.emplace_back(static_cast<int>(kind), record.size());
  EXPECT_EQ(seen, (std::vector<std::pair<int, std::size_t>>{{1, 8}, {4, 4096}, {77, 16}}));
  EXPECT_FALSE(decoder.is_damaged());
}

TEST(StateDecoder, StopsAtALengthThatCannotBe) {
  for (const std::uint32_t bytes : {0u, 7u, 12u, 64u, UINT32_MAX}) {
    std::string text = state_record(StateKind::kDomain, 16);
    append_bytes(&text, StateHeader{1, 0, bytes});
    StateDecoder decoder(as_span(text));
    StateKind kind{};
    std::span<const std::uint8_t> record;
    EXPECT_TRUE(decoder.next(&kind, &record));
    EXPECT_FALSE(decoder.next(&kind, &record)) << bytes;
    EXPECT_TRUE(decoder.is_damaged());
    EXPECT_FALSE(decoder.next(&kind, &record));
  }
}

TEST(StateDecoder, RandomBytesNeverLeadOutside) {
  std::mt19937 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = random() % 80;
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[size]);
    for (std::size_t k = 0; k < size; ++k) bytes[k] = static_cast<std::uint8_t>(random() % 5 == 0 ? random() : k % 9);
    StateDecoder decoder({bytes.get(), size});
    StateKind kind{};
    std::span<const std::uint8_t> record;
    std::size_t total = 0;
    while (decoder.next(&kind, &record)) total += record.size();
    ASSERT_LE(total, size);
  }
}

TEST(ReadState, NeedsTheWholeFixedPart) {
  const std::string record = state_record(StateKind::kDomain, 16);
  DomainState domain{};
  std::span<const std::uint8_t> tail;
  EXPECT_TRUE(read_state(as_span(record), &domain, &tail));
  EXPECT_TRUE(tail.empty());
  EXPECT_FALSE(read_state(as_span(record).first(15), &domain));
}

}  // namespace
}  // namespace jaxprof::spool

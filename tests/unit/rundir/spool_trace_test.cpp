#include "merge/rundir/spool_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/recording.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::rundir {
namespace {

using test::EntryPlan;
using test::Recording;
using testing::HasSubstr;

class SpoolTraceTest : public testing::Test {
 protected:
  SpoolTrace load(std::string_view bytes) {
    test::write_file(path_, bytes);
    auto trace = SpoolTrace::load(path_);
    EXPECT_TRUE(trace) << trace.error().message;
    return std::move(*trace);
  }
  SpoolTrace load() { return load(recording_.bytes()); }

  test::TempFolder folder_;
  std::string path_ = folder_.file("a.jxspool");
  Recording recording_;
};

TEST_F(SpoolTraceTest, KnowsWhatWasRegistered) {
  recording_.domain(3, "NCCL");
  recording_.category(3, 7, "comm");
  recording_.thread(1, 4711);
  recording_.communicator(2, 0xabc, 1, 4, 2, "world");
  const SpoolTrace trace = load();
  EXPECT_EQ(trace.domain_name(3), "NCCL");
  EXPECT_EQ(trace.category_name(3, 7), "comm");
  EXPECT_EQ(trace.tid(1), 4711u);
  ASSERT_NE(trace.communicator(2), nullptr);
  EXPECT_EQ(trace.communicator(2)->hash, 0xabcu);
  EXPECT_EQ(trace.communicator(2)->name, "world");
  EXPECT_EQ(trace.event_clock(), ClockId::kTsc);
  EXPECT_TRUE(trace.footer());
  EXPECT_EQ(trace.damaged_blocks(), 0u);
}

TEST_F(SpoolTraceTest, LeavesOutAnchorsThatNoClockShowsAndCountsThem) {
  recording_.anchor({7, 7, 7, 7, 1});
  recording_.anchor({8, -1, 8, 8, 1});
  recording_.anchor({9, 9, INT64_MIN, 9, 1});
  const SpoolTrace trace = load();
  ASSERT_EQ(trace.anchors().size(), 1u);
  EXPECT_EQ(trace.anchors()[0].counter, 7u);
  EXPECT_EQ(trace.implausible_anchors(), 2u);
}

TEST_F(SpoolTraceTest, SaysWhatItDoesNotKnow) {
  recording_.domain(1, "a");
  const SpoolTrace trace = load();
  EXPECT_EQ(trace.text(spool::kNoString), "");
  EXPECT_EQ(trace.text(999), "(lost string)");
  EXPECT_EQ(trace.domain_name(0), "");
  EXPECT_EQ(trace.domain_name(9), "(lost string)");
  EXPECT_EQ(trace.category_name(1, 1), "");
  EXPECT_EQ(trace.tid(5), 0u);
  EXPECT_EQ(trace.communicator(1), nullptr);
  EXPECT_EQ(trace.schema(1, 1), nullptr);
  EXPECT_EQ(trace.enumeration(1, 1), nullptr);
}

TEST_F(SpoolTraceTest, PlacesFieldsByNaturalAlignmentWhereTheSchemaDoesNot) {
  // u8, u32, u16, u64, and an enumeration of one byte
  recording_.enumeration(0, 500, 1, {{0, "zero"}});
  recording_.schema(0, 7, {{"a", 12}, {"b", 16}, {"c", 14}, {"d", 18}, {"e", 500}});
  const SpoolTrace trace = load();
  std::vector<std::uint64_t> offsets;
  for (const SchemaField& field : trace.schema(0, 7)->fields) offsets.push_back(field.offset);
  EXPECT_THAT(offsets, testing::ElementsAre(0, 4, 8, 16, 24));
}

TEST_F(SpoolTraceTest, KeepsOffsetsThatAreGiven) {
  recording_.schema(0, 7, {{"a", 18, 0}, {"b", 16, 40}, {"c", 16}});
  const SpoolTrace trace = load();
  EXPECT_EQ(trace.schema(0, 7)->fields[1].offset, 40u);
  EXPECT_EQ(trace.schema(0, 7)->fields[2].offset, 44u);
}

TEST_F(SpoolTraceTest, StepsOverFixedArraysAndPacksWhereTold) {
  constexpr std::uint64_t kFixedArray = 1 << 4;
  recording_.schema(0, 7, {{"a", 12, 0, kFixedArray, 5}, {"b", 16}});
  recording_.schema(0, 8, {{"a", 12}, {"b", 16}, {"c", 18}}, 1);
  const SpoolTrace trace = load();
  EXPECT_EQ(trace.schema(0, 7)->fields[1].offset, 8u);
  EXPECT_EQ(trace.schema(0, 8)->fields[1].offset, 1u);
  EXPECT_EQ(trace.schema(0, 8)->fields[2].offset, 5u);
}

TEST_F(SpoolTraceTest, KnowsNoPlaceBehindAFieldOfUnknownWidth) {
  recording_.schema(0, 7, {{"a", 18}, {"nested", 12345}, {"b", 16}, {"c", 16, 32}, {"d", 16}});
  const SpoolTrace trace = load();
  const auto& fields = trace.schema(0, 7)->fields;
  EXPECT_EQ(fields[2].offset, kNoOffset);
  EXPECT_EQ(fields[3].offset, 32u);
  EXPECT_EQ(fields[4].offset, 36u);
}

TEST_F(SpoolTraceTest, TakesTheLargestValueOfEachDropCounter) {
  test::SpoolBytes spool;
  spool.add(spool::BlockKind::kIdentity, "");
  std::string counters;
  test::append_bytes(&counters, spool::CounterRecord{0, 0, 5});
  test::append_bytes(&counters, spool::CounterRecord{3, 0, 7});
  spool.add(spool::BlockKind::kCounters, counters);
  counters.clear();
  test::append_bytes(&counters, spool::CounterRecord{0, 0, 9});
  test::append_bytes(&counters, spool::CounterRecord{4, 0, 0});
  spool.add(spool::BlockKind::kCounters, counters);
  const SpoolTrace trace = load(spool.bytes());
  EXPECT_THAT(trace.drops(), testing::ElementsAre(testing::Pair(0, 9), testing::Pair(3, 7)));
  EXPECT_EQ(trace.drop_sum(), 16u);
}

TEST_F(SpoolTraceTest, CountsBlocksThatItCannotDecode) {
  test::SpoolBytes spool;
  spool.add(spool::BlockKind::kIdentity, "");
  spool.add(spool::BlockKind::kFooter, "short");
  spool.add(spool::BlockKind::kState, "1234567");
  std::string record;  // a schema that says it has a million entries
  spool::SchemaState schema{};
  schema.header = {static_cast<std::uint16_t>(spool::StateKind::kSchema), 0, sizeof schema};
  schema.entry_count = 1'000'000;
  test::append_bytes(&record, schema);
  spool.add(spool::BlockKind::kState, record);
  const SpoolTrace trace = load(spool.bytes());
  EXPECT_EQ(trace.damaged_blocks(), 3u);
  EXPECT_FALSE(trace.footer());
}

TEST_F(SpoolTraceTest, GivesEventsInTheOrderOfWriting) {
  for (std::uint64_t i = 0; i < 100; ++i) {
    recording_.event(static_cast<std::uint32_t>(1 + i % 3), spool::EventKind::kNvtxMark, 0, 1000 + i, {0, i});
  }
  const SpoolTrace trace = load();
  std::uint64_t next = 0;
  trace.for_each_event([&next](std::uint32_t thread, const spool::Event& event) {
    EXPECT_EQ(thread, 1 + next % 3);
    EXPECT_EQ(event.fields[1], next);
    EXPECT_EQ(event.stamp, 1000 + next++);
  });
  EXPECT_EQ(next, 100u);
}

TEST_F(SpoolTraceTest, StaysWholeWhenItIsMoved) {
  recording_.push(1, 0, 0, "range", 5);
  SpoolTrace trace = load();
  const SpoolTrace moved = std::move(trace);
  int count = 0;
  moved.for_each_event([&count](std::uint32_t, const spool::Event&) { ++count; });
  EXPECT_EQ(count, 1);
}

TEST_F(SpoolTraceTest, NeedsToKnowWhoseItIs) {
  test::SpoolBytes spool;
  spool.add(spool::BlockKind::kState, "");
  test::write_file(path_, spool.bytes());
  const auto trace = SpoolTrace::load(path_);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kInputUnreadable);
  EXPECT_THAT(trace.error().message, HasSubstr("a.jxspool: no block says whose spool it is"));
}

}  // namespace
}  // namespace jaxprof::rundir

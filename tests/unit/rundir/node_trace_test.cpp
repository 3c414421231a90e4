#include "merge/rundir/node_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/rundir/node_spool.h"
#include "tests/unit/spool/recording.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::rundir {
namespace {

using spool::SampleKind;
using spool::SampleSubject;
using spool::SampleUnit;
using test::NodeSpool;
using testing::ElementsAre;
using testing::HasSubstr;

struct KeptRow {
  std::uint32_t stream;
  std::uint64_t stamp;
  std::vector<std::uint64_t> values;
  bool operator==(const KeptRow&) const = default;
};

class NodeTraceTest : public testing::Test {
 protected:
  NodeTraceTest() {
    spool_.port(0, {});
    spool_.stream(5, SampleSubject::kNic, 0,
                  {{"tx_bytes", SampleUnit::kBytes}, {"rx_bytes", SampleUnit::kBytes}, {"rx_drops"}}, 2);
  }
  NodeTrace load(std::string_view bytes) {
    test::write_file(path_, bytes);
    auto trace = NodeTrace::load(path_);
    EXPECT_TRUE(trace) << trace.error().message;
    return std::move(*trace);
  }
  NodeTrace load() { return load(spool_.bytes()); }
  static std::vector<KeptRow> rows(const NodeTrace& trace, SampleLosses* losses = nullptr) {
    std::vector<KeptRow> kept;
    const SampleLosses found = trace.for_each_row([&kept](const NodeStream& stream, const spool::SampleRow& row) {
      kept.push_back({stream.state.stream, row.stamp, {row.values.begin(), row.values.end()}});
    });
    if (losses != nullptr) *losses = found;
    return kept;
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("node.n0.n0-boot.0.jxspool");
  NodeSpool spool_{"n0", 2, true};
};

TEST_F(NodeTraceTest, KnowsHowClocksWereCompared) {
  spool_.clock_service("tsc", true, 7);
  spool_.clock_peer(4, "n1");
  spool::ClockDisciplineState discipline{};
  discipline.status = 64;
  spool_.state(spool::StateKind::kClockDiscipline, discipline);
  for (const std::uint64_t sent : {10U, 20U}) {
    spool::ClockPacketsState packets{};
    packets.sent = sent;
    spool_.state(spool::StateKind::kClockPackets, packets);
  }
  spool_.clock_readings({{100, 5100, 90, 40}, {200, 5200, 190, 41}});
  spool_.clock_burst({4, 0, spool::BurstKind::kStart, 3, {{}}});
  const NodeTrace trace = load();
  const ClockRecords& clock = trace.clock();
  ASSERT_EQ(clock.services().size(), 1u);
  EXPECT_EQ(clock.services()[0].clocksource, "tsc");
  EXPECT_EQ(clock.services()[0].address, "10.0.0.1");
  EXPECT_EQ(clock.services()[0].state.is_reference, 1u);
  EXPECT_EQ(clock.peers().at(4).boot_id, "n1-boot");
  ASSERT_EQ(clock.disciplines().size(), 1u);
  EXPECT_EQ(clock.disciplines()[0].status, 64u);
  EXPECT_EQ(clock.packets()->sent, 20u) << "the last that were told";
  std::vector<std::int64_t> raws;
  std::uint32_t bursts = 0;
  const ClockLosses losses =
      clock.for_each({[&](const spool::ClockReading& reading) { raws.push_back(reading.raw_ns); },
                      [&](const spool::ProbeBurst& burst) { bursts += burst.sent; }});
  EXPECT_EQ(losses.damaged_blocks, 0u);
  EXPECT_EQ(losses.implausible_readings, 0u);
  EXPECT_THAT(raws, ElementsAre(100, 200));
  EXPECT_EQ(bursts, 3u);
}

TEST_F(NodeTraceTest, LeavesOutReadingsThatNoClockShowsAndCountsThem) {
  spool_.anchor({1, 1, 1, 1, 1});
  spool_.anchor({2, INT64_MIN, 2, 2, 1});
  spool_.anchor({3, 3, INT64_MAX, 3, 1});
  spool_.clock_readings({{100, 5100, 90, 40}, {-1, 5200, 190, 41}, {300, -1, 290, 40}, {400, 5400, 390, 40}});
  const NodeTrace trace = load();
  ASSERT_EQ(trace.anchors().size(), 1u);
  EXPECT_EQ(trace.anchors()[0].counter, 1u);
  EXPECT_EQ(trace.implausible_anchors(), 2u);
  std::vector<std::int64_t> raws;
  const ClockLosses losses =
      trace.clock().for_each({[&](const spool::ClockReading& reading) { raws.push_back(reading.raw_ns); }, nullptr});
  EXPECT_THAT(raws, ElementsAre(100, 400));
  EXPECT_EQ(losses.implausible_readings, 2u);
  EXPECT_EQ(losses.damaged_blocks, 0u);
}

TEST_F(NodeTraceTest, KnowsWhatWasRegistered) {
  spool_.gpu(1, "GPU-7");
  spool_.event(0, spool::NicEvent::kColumnDropped, "rx_odd: Invalid argument", 77);
  spool_.note(spool::NodeNote::kNoGpu, "no libnvidia-ml");
  spool_.ticks(10, 1);
  spool_.ticks(20, 2);
  const NodeTrace trace = load();
  EXPECT_EQ(trace.identity().text(spool::IdentityKey::kHost), "n0");
  EXPECT_EQ(trace.observer().segment, 2U);
  EXPECT_EQ(trace.observer().is_shared, 1U);
  const NodePort& port = trace.ports().at(0);
  EXPECT_EQ(port.name, "rdmap0s6");
  EXPECT_EQ(port.driver, "efa");
  EXPECT_EQ(port.state.bits_per_s, 100'000'000'000U);
  EXPECT_EQ(port.netdev, "");
  EXPECT_EQ(trace.gpus().at(1).uuid, "GPU-7");
  ASSERT_EQ(trace.streams().at(5).columns.size(), 3U);
  EXPECT_EQ(trace.streams().at(5).columns[2].name, "rx_drops");
  ASSERT_EQ(trace.events().size(), 1U);
  EXPECT_EQ(trace.events()[0].text, "rx_odd: Invalid argument");
  ASSERT_EQ(trace.notes().size(), 1U);
  EXPECT_EQ(trace.ticks()->ticks, 20U) << "the last is the count";
  EXPECT_TRUE(trace.has_footer());
  EXPECT_EQ(trace.damaged_blocks(), 0U);
}

// Another run may come to the node later, and go.
TEST_F(NodeTraceTest, RemembersThatTheNodeWasShared) {
  NodeSpool spool;
  spool::NodeObserverState again{};
  spool.state(spool::StateKind::kNodeObserver, again);
  EXPECT_EQ(load(spool.bytes()).observer().is_shared, 0U);
  again.is_shared = 1;
  spool.state(spool::StateKind::kNodeObserver, again);
  again.is_shared = 0;
  spool.state(spool::StateKind::kNodeObserver, again);
  EXPECT_EQ(load(spool.bytes()).observer().is_shared, 1U);
}

TEST_F(NodeTraceTest, TakesTheLastRecordOfAPort) {
  spool_.port(0, {.name = "efa_0"});
  EXPECT_EQ(load().ports().at(0).name, "efa_0");
}

TEST_F(NodeTraceTest, GivesRowsOfSeveralBlocksInOrder) {
  spool_.row(5, 100, {1, 2, 3});
  spool_.end_block();
  spool_.row(5, 200, {11, 12});
  SampleLosses losses;
  EXPECT_THAT(rows(load(), &losses), ElementsAre(KeptRow{5, 100, {1, 2, 3}}, KeptRow{5, 200, {11, 12}}));
  EXPECT_EQ(losses.damaged_blocks + losses.skipped_sections + losses.strange_rows, 0U);
}

// The observer was killed in the middle of a write.
TEST_F(NodeTraceTest, ReadsATornSpoolUpToItsLastWholeBlock) {
  spool_.row(5, 100, {1, 2, 3});
  spool_.end_block();
  spool_.row(5, 200, {11, 12, 13});
  std::string bytes = spool_.bytes(false);
  bytes.resize(bytes.size() - 3);
  const NodeTrace trace = load(bytes);
  EXPECT_THAT(rows(trace), ElementsAre(KeptRow{5, 100, {1, 2, 3}}));
  EXPECT_FALSE(trace.has_footer());
  EXPECT_GT(trace.health().torn_tail_bytes, 0U);
}

TEST_F(NodeTraceTest, GoesOnAtTheNextBeginningAfterADamagedBlock) {
  spool_.row(5, 100, {1, 2, 3});
  spool_.end_block();
  const std::size_t damaged_at = spool_.bytes(false).size() - 1;
  spool_.row(5, 200, {11, 12, 13});
  spool_.end_block();
  spool_.restart();
  spool_.row(5, 300, {21, 22, 23});
  std::string bytes = spool_.bytes();
  bytes[damaged_at] = static_cast<char>(bytes[damaged_at] ^ 1);
  SampleLosses losses;
  EXPECT_THAT(rows(load(bytes), &losses), ElementsAre(KeptRow{5, 300, {21, 22, 23}}));
  EXPECT_EQ(losses.skipped_sections, 1U);
}

TEST_F(NodeTraceTest, CountsRowsOfStreamsThatItDoesNotKnow) {
  NodeSpool other;
  other.stream(5, SampleSubject::kNic, 0, {{"tx_bytes"}});
  other.row(5, 100, {1});
  spool::SampleEncoder strange(6, 1, 0);
  const std::vector<std::uint64_t> values = {1};
  strange.add({100, 1, 0, false, values});
  std::vector<std::uint8_t> payload;
  strange.append_section(&payload);
  test::SpoolBytes added;
  added.add(spool::BlockKind::kSamples, {reinterpret_cast<const char*>(payload.data()), payload.size()});
  const std::string bytes = other.bytes(false) + added.bytes().substr(sizeof(spool::FileHeader));
  SampleLosses losses;
  EXPECT_THAT(rows(load(bytes), &losses), ElementsAre(KeptRow{5, 100, {1}}));
  EXPECT_EQ(losses.strange_rows, 1U);
}

TEST_F(NodeTraceTest, CountsAStreamThatClaimsMoreColumnsThanItHas) {
  spool::SampleStreamState state{};
  state.stream = 9;
  state.column_count = 3;
  spool_.state(spool::StateKind::kSampleStream, state, std::string(32, '\0'));
  const NodeTrace trace = load();
  EXPECT_EQ(trace.damaged_blocks(), 1U);
  EXPECT_EQ(trace.streams().count(9), 0U);
}

TEST_F(NodeTraceTest, RefusesAProcesssSpool) {
  test::write_file(path_, test::Recording().bytes());
  const auto trace = NodeTrace::load(path_);
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, ErrorCode::kInputUnreadable);
  EXPECT_THAT(trace.error().message, HasSubstr("is a process's spool"));
}

}  // namespace
}  // namespace jaxprof::rundir

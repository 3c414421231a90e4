#include "netsampler/node/sample_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/netsampler/node_recording.h"
#include "tests/unit/netsampler/scripted_node.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;
using testing::Pair;
using testing::SizeIs;

class SampleLoopTest : public testing::Test {
 protected:
  // Runs from 100 s on for so long, and reads back what was written.
  NodeRecording run_for(std::uint64_t length_ns) {
    NodeIdentity identity{"7.0.0", "7", "n1", "0123456789abcdef"};
    auto spool = NodeSpool::create(path_, identity);
    EXPECT_TRUE(spool) << spool.error().message;
    SampleLoop loop({&clock_, &*spool, has_nics_ ? &nics_ : nullptr, has_gpus_ ? &gpus_ : nullptr, clocks_}, 0, false);
    const std::uint64_t end_ns = clock_.now_ns() + length_ns;
    loop.run({[&] { return clock_.now_ns() >= end_ns; }, [&] { return is_shared_; },
              [&] { return clock_.now_ns() >= gpus_wanted_ns_; }});
    return read_node_spool(path_);
  }
  // Every value is what the script says of its stamp, and stamps rise.
  static void expect_true_values(const RecordedStream& stream, std::uint64_t factor = 1) {
    std::uint64_t before = 0;
    for (const RecordedRow& row : stream.rows) {
      EXPECT_GT(row.stamp, before);
      before = row.stamp;
      for (std::size_t i = 0; i < row.values.size(); ++i) ASSERT_EQ(row.values[i], (i + 1) * factor * row.stamp);
    }
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("node.jxspool");
  ScriptedClock clock_;
  ScriptedNics nics_{&clock_};
  ScriptedGpus gpus_;
  ClockSource* clocks_ = nullptr;
  bool has_nics_ = true;
  bool has_gpus_ = true;
  bool is_shared_ = false;
  std::uint64_t gpus_wanted_ns_ = 0;  // not before
};

TEST_F(SampleLoopTest, TotalsAreTheLastRowLessTheFirstOverTheWholeTime) {
  nics_.add_port("rdmap0s6", 22, 6, 100 * kMillisecond);
  const auto recording = run_for(25 * kSecond);
  ASSERT_EQ(recording.error, "");
  EXPECT_TRUE(recording.health.has_footer);
  EXPECT_EQ(recording.identity.number(spool::IdentityKey::kSpoolKind), 1);
  EXPECT_EQ(recording.identity.text(spool::IdentityKey::kRunId), "7.0.0");
  EXPECT_EQ(recording.identity.number(spool::IdentityKey::kRank), -1);
  ASSERT_THAT(recording.streams, SizeIs(1));
  const RecordedStream& stream = recording.streams.at(0);
  ASSERT_THAT(stream.rows, SizeIs(1 + 250 + 1));
  EXPECT_EQ(recording.footer_rows, 252U);
  expect_true_values(stream);
  EXPECT_THAT(stream.columns, SizeIs(22));
  EXPECT_EQ(stream.rows.front().stamp, 101 * kSecond);
  EXPECT_EQ(stream.rows.back().values.size(), 22U);
  EXPECT_EQ(stream.rows.back().flags, spool::kSampleLast);
  EXPECT_EQ(stream.rows.back().values[21] - stream.rows.front().values[21], 22 * (25 * kSecond + nics_.read_ns))
      << "the last is read after the last tick's";
  EXPECT_EQ(recording.anchors, 1 + 25 + 1U);
}

TEST_F(SampleLoopTest, OneRowASecondHasAllColumns) {
  nics_.add_port("rdmap0s6", 22, 6, 100 * kMillisecond);
  const auto recording = run_for(4 * kSecond);
  std::vector<std::uint64_t> full;
  for (const RecordedRow& row : recording.streams.at(0).rows) {
    EXPECT_EQ(row.values.size(), row.is_partial ? 6U : 22U);
    if (!row.is_partial && row.flags == 0) full.push_back(row.stamp / kSecond);
  }
  EXPECT_THAT(full, ElementsAre(101, 102, 103, 104, 105));
}

TEST_F(SampleLoopTest, EachPortHasItsOwnRate) {
  nics_.add_port("efa", 4, 4, 100 * kMillisecond);
  nics_.add_port("mlx5", 4, 4, 20 * kMillisecond);
  nics_.add_port("bnxt", 4, 4, kSecond);
  const auto recording = run_for(10 * kSecond);
  EXPECT_THAT(recording.streams.at(0).rows, SizeIs(102));
  EXPECT_THAT(recording.streams.at(1).rows, SizeIs(502));
  EXPECT_THAT(recording.streams.at(2).rows, SizeIs(12));
}

TEST_F(SampleLoopTest, SlowReadsMissTicksWhichAreCountedAndNotCaughtUp) {
  nics_.add_port("slow", 2, 2, 100 * kMillisecond);
  nics_.read_ns = 250 * kMillisecond;
  const auto recording = run_for(20 * kSecond);
  const RecordedStream& stream = recording.streams.at(0);
  expect_true_values(stream);
  ASSERT_FALSE(recording.ticks.empty());
  const spool::NodeTicksState& ticks = recording.ticks.back();
  EXPECT_EQ(ticks.ticks, ticks.missed + stream.rows.size() - 2) << "all but the first and the last row";
  EXPECT_GT(ticks.missed, 100U);
  EXPECT_LT(ticks.lateness_max_ns, 100 * kMillisecond);
  EXPECT_EQ(ticks.read_ns, stream.rows.size() * nics_.read_ns);
  EXPECT_EQ(ticks.cpu_ns, 7U);
  EXPECT_EQ(stream.rows[3].read_us, 250'000U);
}

TEST_F(SampleLoopTest, TicksAreToldEveryTenSecondsAndAtTheEnd) {
  nics_.add_port("efa", 2, 2, 100 * kMillisecond);
  clock_.late_ns = 3;
  const auto recording = run_for(25 * kSecond);
  ASSERT_THAT(recording.ticks, SizeIs(3));
  EXPECT_EQ(recording.ticks.back().missed, 0U);
  EXPECT_GE(recording.ticks.back().lateness_max_ns, 3U);
  EXPECT_EQ(recording.ticks.front().stamp / kSecond, 111U);
}

TEST_F(SampleLoopTest, OtherColumnsAreAnotherStreamWithAFullRowFirst) {
  nics_.add_port("rdmap0s6", 5, 2, 100 * kMillisecond);
  nics_.on_rescan = [this] {
    if (nics_.rescans != 2) return;
    Port* port = nics_.port(0);
    port->columns.pop_back();
    ++port->column_set;
    nics_.next()->changes.push_back({0, spool::NicEvent::kColumnDropped, "counter4: invalid argument"});
  };
  const auto recording = run_for(8 * kSecond);
  ASSERT_THAT(recording.streams, SizeIs(2));
  EXPECT_FALSE(recording.has_unknown_stream);
  expect_true_values(recording.streams.at(0));
  expect_true_values(recording.streams.at(1));
  EXPECT_THAT(recording.streams.at(1).columns, SizeIs(4));
  EXPECT_FALSE(recording.streams.at(1).rows.front().is_partial);
  EXPECT_GT(recording.streams.at(1).rows.front().stamp, recording.streams.at(0).rows.back().stamp);
  ASSERT_THAT(recording.events, SizeIs(2));
  EXPECT_EQ(recording.texts.at(recording.events[1].text), "counter4: invalid argument");
}

TEST_F(SampleLoopTest, APortWhosePeriodChangesWithoutAnEventIsWrittenAnew) {
  nics_.add_port("rdmap0s6", 2, 2, 100 * kMillisecond);
  nics_.on_rescan = [this] { nics_.port(0)->info.period_ns = (nics_.rescans >= 2 ? 200 : 100) * kMillisecond; };
  const auto recording = run_for(12 * kSecond);
  EXPECT_THAT(recording.events, SizeIs(1));
  ASSERT_THAT(recording.ports, SizeIs(2));
  EXPECT_EQ(recording.ports[1].period_ns, 200 * kMillisecond);
}

TEST_F(SampleLoopTest, ALostPortIsLookedForWithinASecondAndSampledAgain) {
  nics_.add_port("rdmap0s6", 2, 2, 100 * kMillisecond);
  nics_.on_rescan = [this] {
    Port* port = nics_.port(0);
    if (nics_.rescans == 2) {
      port->is_present = false;
      nics_.next()->changes.push_back({0, spool::NicEvent::kVanished, ""});
      nics_.wants = true;
    } else if (nics_.rescans == 3) {
      port->is_present = true;
      nics_.next()->changes.push_back({0, spool::NicEvent::kReturned, ""});
    }
  };
  const auto recording = run_for(9 * kSecond);
  ASSERT_THAT(recording.events, SizeIs(3));
  EXPECT_LE(recording.events[2].stamp - recording.events[1].stamp, kSecond);
  EXPECT_THAT(recording.ports, SizeIs(3)) << "written again at each change";
  EXPECT_GT(recording.streams.at(0).rows.back().stamp, recording.events[2].stamp);
}

TEST_F(SampleLoopTest, WithoutPortsAndBoardsThereIsALineForEach) {
  nics_.next()->notes.push_back({spool::NodeNote::kNoNic, "no network card"});
  gpus_.reason = "no libnvidia-ml.so.1";
  const auto recording = run_for(3 * kSecond);
  ASSERT_EQ(recording.error, "");
  EXPECT_THAT(recording.notes, ElementsAre(Pair(spool::NodeNote::kNoGpu, "no libnvidia-ml.so.1"),
                                           Pair(spool::NodeNote::kNoNic, "no network card")));
  EXPECT_TRUE(recording.health.has_footer);
}

TEST_F(SampleLoopTest, WhatWasNotAskedForIsSaidAndNotSampled) {
  has_nics_ = has_gpus_ = false;
  const auto recording = run_for(2 * kSecond);
  ASSERT_THAT(recording.notes, SizeIs(2));
  EXPECT_EQ(recording.notes[0].first, spool::NodeNote::kNotSampled);
  EXPECT_EQ(recording.notes[1].first, spool::NodeNote::kNotSampled);
  EXPECT_EQ(recording.sample_blocks, 0U);
}

TEST_F(SampleLoopTest, GpusAreReadFromWhenTheyAreWantedOn) {
  gpus_.next.boards = {board(0, "GPU-a")};
  gpus_.next.rows = {gpu_row(0, 55, 700'000)};
  gpus_wanted_ns_ = clock_.now_ns() + 2 * kSecond;
  const auto recording = run_for(4 * kSecond);
  ASSERT_EQ(recording.error, "");
  EXPECT_EQ(gpus_.starts, 1);
  EXPECT_THAT(recording.gpus, SizeIs(1));
  EXPECT_THAT(recording.notes, testing::IsEmpty());
}

TEST_F(SampleLoopTest, GpusThatNobodyWantedAreNotAskedAndThatIsSaid) {
  gpus_wanted_ns_ = UINT64_MAX;
  const auto recording = run_for(2 * kSecond);
  EXPECT_EQ(gpus_.starts, 0);
  EXPECT_THAT(recording.notes,
              ElementsAre(Pair(spool::NodeNote::kNotSampled, "GPUs are not sampled: no task of the node is traced")));
}

TEST_F(SampleLoopTest, BoardsAndTheirRowsAreWrittenAsTheyCome) {
  gpus_.next.boards = {board(0, "GPU-a")};
  gpus_.next.rows = {gpu_row(0, 55, 700'000), gpu_row(9, 56, 1)};
  gpus_.next.notes = {{spool::NodeNote::kGpuTrouble, "no permission for ECC"}};
  const auto recording = run_for(2 * kSecond);
  ASSERT_EQ(recording.error, "");
  ASSERT_THAT(recording.gpus, SizeIs(1));
  EXPECT_EQ(recording.texts.at(recording.gpus[0].uuid), "GPU-a");
  ASSERT_THAT(recording.streams, SizeIs(1)) << "a row of a board that was never told is left out";
  const RecordedStream& stream = recording.streams.at(0);
  EXPECT_EQ(stream.subject_kind, spool::SampleSubject::kGpu);
  ASSERT_THAT(stream.rows, SizeIs(1));
  EXPECT_EQ(stream.rows[0].values[static_cast<std::size_t>(GpuColumn::kPower)], 700'000U);
  EXPECT_THAT(recording.notes, ElementsAre(Pair(spool::NodeNote::kGpuTrouble, "no permission for ECC")));
}

spool::ClockReading reading_at(std::int64_t raw_ns) {
  return {raw_ns, raw_ns + 5, raw_ns + 9, 60};
}

TEST_F(SampleLoopTest, WhatClocksTellIsInTheFileWithItsRegistrationsFirst) {
  ScriptedClocks clocks;
  clocks_ = &clocks;
  spool::ProbeBurst burst;
  burst.peer = 3;
  burst.burst = 17;
  burst.sent = 16;
  burst.exchanges.resize(2);
  burst.exchanges[1].sequence = 5;
  burst.exchanges[1].at(spool::Stamp::kServerSendWall) = 1'796'043'484'484'040'510;
  clocks.next.news = {reading_at(1), PeerNews{3, true, "n2", "boot-2", "10.0.0.2", 40000, 77, 12}, burst,
                      ServiceNews{40001, 3, true, "10.0.0.1", "eth0", "tsc", "", 78, 13}, reading_at(2)};
  const auto recording = run_for(3 * kSecond);
  ASSERT_EQ(recording.error, "");
  EXPECT_EQ(clocks.starts, 1);
  EXPECT_FALSE(recording.has_unknown_peer);
  EXPECT_THAT(recording.readings, ElementsAre(reading_at(1), reading_at(2)));
  EXPECT_THAT(recording.bursts, ElementsAre(burst));
  ASSERT_THAT(recording.peers, SizeIs(1));
  const spool::ClockPeerState& peer = recording.peers[0];
  EXPECT_EQ(peer.peer, 3U);
  EXPECT_EQ(peer.is_reference, 1U);
  EXPECT_EQ(recording.texts.at(peer.host), "n2");
  EXPECT_EQ(recording.texts.at(peer.boot_id), "boot-2");
  EXPECT_EQ(recording.texts.at(peer.address), "10.0.0.2");
  EXPECT_EQ(peer.port, 40000U);
  EXPECT_EQ(peer.network_namespace, 77U);
  EXPECT_EQ(peer.stamp, 12U);
  ASSERT_THAT(recording.services, SizeIs(1));
  const spool::ClockServiceState& service = recording.services[0];
  EXPECT_EQ(service.port, 40001U);
  EXPECT_EQ(service.stamps, 3U);
  EXPECT_EQ(recording.texts.at(service.interface), "eth0");
  EXPECT_EQ(recording.texts.at(service.clocksource), "tsc");
  EXPECT_EQ(service.reason, spool::kNoString);
  EXPECT_EQ(service.network_namespace, 78U);
}

TEST_F(SampleLoopTest, WhatClocksTellAtTheirEndIsTheLastThingBeforeTheFooter) {
  ScriptedClocks clocks;
  clocks_ = &clocks;
  spool::ClockPacketsState packets{};
  packets.sent = 99;
  clocks.last = {reading_at(7), packets, ClockNote{"no answer from n3", 5}};
  const auto recording = run_for(2 * kSecond);
  EXPECT_TRUE(clocks.is_finished);
  EXPECT_THAT(recording.readings, ElementsAre(reading_at(7)));
  ASSERT_THAT(recording.packets, SizeIs(1));
  EXPECT_EQ(recording.packets[0].sent, 99U);
  EXPECT_THAT(recording.notes, testing::Contains(Pair(spool::NodeNote::kClockTrouble, "no answer from n3")));
  EXPECT_TRUE(recording.health.has_footer);
}

TEST_F(SampleLoopTest, ClocksEndTheirWorkWhileTheRestIsRead) {
  ScriptedClocks clocks;
  clocks_ = &clocks;
  nics_.add_port("rdmap0s6", 2, 2, 100 * kMillisecond);
  std::size_t rows_before_the_wait = 0;
  clocks.on_finish = [&] { rows_before_the_wait = read_node_spool(path_).streams.at(0).rows.size(); };
  const auto recording = run_for(kSecond);
  EXPECT_TRUE(clocks.was_ending) << "asked to end before it is waited for";
  EXPECT_EQ(rows_before_the_wait, recording.streams.at(0).rows.size()) << "all else is in the file by then";
}

TEST_F(SampleLoopTest, NewsOfClocksThatWereLostAreCounted) {
  ScriptedClocks clocks;
  clocks_ = &clocks;
  clocks.next.n_lost = 12;
  const auto recording = run_for(2 * kSecond);
  EXPECT_THAT(recording.notes, testing::Contains(Pair(spool::NodeNote::kClockTrouble,
                                                      testing::HasSubstr("12 readings and comparisons"))));
}

TEST_F(SampleLoopTest, AnotherRunThatComesLaterIsToldOnce) {
  nics_.on_rescan = [this] { is_shared_ = nics_.rescans >= 2; };
  const auto recording = run_for(21 * kSecond);
  ASSERT_THAT(recording.observers, SizeIs(2));
  EXPECT_EQ(recording.observers[0].is_shared, 0U);
  EXPECT_EQ(recording.observers[1].is_shared, 1U);
}

TEST_F(SampleLoopTest, AFullDiskEndsTheFileAtAWholeBlockAndNotTheLoop) {
  const test::SmallDisk disk(folder_.path());
  if (!disk.has_mounted()) GTEST_SKIP() << "needs the right to mount";
  for (int i = 0; i < 8; ++i) nics_.add_port("rdmap" + std::to_string(i), 40, 40, 10 * kMillisecond);
  const auto recording = run_for(60 * kSecond);
  EXPECT_EQ(recording.error, "");
  EXPECT_FALSE(recording.health.has_footer);
  EXPECT_EQ(recording.health.torn_tail_bytes, 0U);
  EXPECT_GT(nics_.rescans, 10) << "it went on";
  ASSERT_FALSE(recording.streams.empty());
  expect_true_values(recording.streams.at(0));
  EXPECT_LT(recording.streams.at(0).rows.size(), 5000U);
}

TEST_F(SampleLoopTest, ARowThatCannotBeReadIsNoRow) {
  nics_.add_port("rdmap0s6", 2, 2, 100 * kMillisecond);
  nics_.is_broken = true;
  const auto recording = run_for(2 * kSecond);
  EXPECT_EQ(recording.error, "");
  EXPECT_EQ(recording.footer_rows, 0U);
}

}  // namespace
}  // namespace jaxprof::netsampler

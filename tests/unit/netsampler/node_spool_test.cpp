#include "netsampler/node/node_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/netsampler/node_recording.h"

namespace jaxprof::netsampler {
namespace {

const NodeIdentity kIdentity{"7.0.0", "7", "n1", "0123456789abcdef"};

TEST(NodeSpool, EachObserverOfANodeTakesTheNextFile) {
  const test::TempFolder folder;
  for (std::uint32_t wanted = 0; wanted < 3; ++wanted) {
    std::uint32_t segment = 99;
    const auto spool = NodeSpool::create_next(folder.path(), kIdentity, &segment);
    ASSERT_TRUE(spool) << spool.error().message;
    EXPECT_EQ(segment, wanted);
    EXPECT_TRUE(std::filesystem::exists(run_layout::node_spool_path(folder.path(), "n1", "0123456789abcdef", wanted)));
  }
}

TEST(NodeSpool, AFolderThatIsNotThereIsAnErrorWithItsName) {
  std::uint32_t segment = 0;
  const auto spool = NodeSpool::create_next("/proc/none", kIdentity, &segment);
  ASSERT_FALSE(spool);
  EXPECT_EQ(spool.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(spool.error().message, testing::HasSubstr("/proc/none/node.n1.01234567.0.jxspool"));
}

TEST(NodeSpool, AFileIsNeverWrittenOver) {
  const test::TempFolder folder;
  std::ofstream(folder.file("mine")) << "data";
  EXPECT_FALSE(NodeSpool::create(folder.file("mine"), kIdentity));
  EXPECT_EQ(std::filesystem::file_size(folder.file("mine")), 4U);
}

TEST(NodeSpool, ClocksOfHoursGoIntoBlocksThatAreNotTooLong) {
  const test::TempFolder folder;
  const std::string path = folder.file("node.jxspool");
  auto spool = NodeSpool::create(path, kIdentity);
  ASSERT_TRUE(spool);
  spool::ProbeBurst burst;
  burst.exchanges.resize(256);
  for (std::size_t i = 0; i < burst.exchanges.size(); ++i) {
    burst.exchanges[i].sequence = static_cast<std::uint32_t>(i);
    for (std::size_t stamp = 0; stamp < spool::kStampCount; ++stamp) {
      burst.exchanges[i].stamps_ns[stamp] = static_cast<std::int64_t>(i * 0x9e3779b97f4a7c15U >> 2U);
    }
  }
  spool::ClockPeerState peer{};
  spool->state(spool::StateKind::kClockPeer, peer);
  for (int i = 0; i < 200; ++i) spool->add_burst(burst);
  for (std::int64_t i = 0; i < 10'000; ++i) spool->add_reading({i, i, i, 60});
  spool->finish();
  EXPECT_GT(std::filesystem::file_size(path), 2U << 20U) << "more than one block has room for";
  const auto recording = read_node_spool(path);
  EXPECT_EQ(recording.error, "");
  EXPECT_EQ(recording.bursts.size(), 200U);
  EXPECT_EQ(recording.bursts.back(), burst);
  EXPECT_EQ(recording.readings.size(), 10'000U);
  EXPECT_FALSE(recording.has_unknown_peer);
}

TEST(NodeSpool, WhatHasNotBeenFlushedIsNotInTheFileAndAllElseIs) {
  const test::TempFolder folder;
  const std::string path = folder.file("node.jxspool");
  auto spool = NodeSpool::create(path, kIdentity);
  ASSERT_TRUE(spool);
  const std::uint32_t stream = spool->open_stream(1, 1);
  const std::uint64_t value = 5;
  for (std::uint64_t stamp = 1; stamp <= 4; ++stamp) {
    spool->add_row(stream, {stamp, 0, 0, false, {&value, 1}});
    if (stamp == 3) spool->flush();
  }
  EXPECT_EQ(read_node_spool(path).streams.at(stream).rows.size(), 3U);
  spool->close_stream(stream);
  spool->add_row(stream, {9, 0, 0, false, {&value, 1}});
  spool->finish();
  const auto recording = read_node_spool(path);
  EXPECT_EQ(recording.streams.at(stream).rows.size(), 4U) << "a closed stream takes no more";
  EXPECT_TRUE(recording.health.has_footer);
}

TEST(NodeSpool, RowsBeginAnewOftenEnoughToGoOnBehindALoss) {
  const test::TempFolder folder;
  const std::string path = folder.file("node.jxspool");
  auto spool = NodeSpool::create(path, kIdentity);
  ASSERT_TRUE(spool);
  const std::uint32_t stream = spool->open_stream(1, 1);
  std::vector<std::uint64_t> ends;
  for (std::uint64_t second = 0; second < 30; ++second) {
    const std::uint64_t value = second * second;
    spool->add_row(stream, {second + 1, 0, 0, false, {&value, 1}});
    spool->flush();
    ends.push_back(spool->bytes());
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(ends[4] - 1));
    file.put('\x55');
    file.seekp(static_cast<std::streamoff>(ends[4] - 2));
    file.put('\x55');
  }
  const auto recording = read_node_spool(path);
  EXPECT_EQ(recording.health.lost_blocks, 1U);
  EXPECT_EQ(recording.skipped_sections, 5U) << "of seconds 5 to 9";
  const auto& rows = recording.streams.at(stream).rows;
  ASSERT_EQ(rows.size(), 24U);
  for (const auto& row : rows) EXPECT_EQ(row.values[0], (row.stamp - 1) * (row.stamp - 1));
}

TEST(NodeSpool, MoreThanABlockHoldsGoesIntoSeveral) {
  const test::TempFolder folder;
  const std::string path = folder.file("node.jxspool");
  auto spool = NodeSpool::create(path, kIdentity);
  ASSERT_TRUE(spool);
  std::vector<std::uint64_t> values(4000);
  for (int i = 0; i < 3; ++i) spool->open_stream(values.size(), values.size());
  constexpr std::uint64_t kRows = 60;
  for (std::uint64_t row = 1; row <= kRows; ++row) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = row * (row + i) * 0x9e3779b97f4a7c15U;
    for (std::uint32_t stream = 0; stream < 3; ++stream) spool->add_row(stream, {row, 0, 0, false, values});
  }
  spool->finish();
  const auto recording = read_node_spool(path);
  EXPECT_EQ(recording.error, "");
  EXPECT_GT(recording.sample_blocks, 3U);
  for (std::uint32_t stream = 0; stream < 3; ++stream) {
    ASSERT_EQ(recording.streams.at(stream).rows.size(), kRows);
    EXPECT_EQ(recording.streams.at(stream).rows.back().values, values);
  }
}

TEST(NodeSpool, ALineIsSaidOnceAndNotForever) {
  const test::TempFolder folder;
  const std::string path = folder.file("node.jxspool");
  auto spool = NodeSpool::create(path, kIdentity);
  ASSERT_TRUE(spool);
  for (int i = 0; i < 2; ++i) spool->note(spool::NodeNote::kNoNic, "none", 1);
  for (int i = 0; i < 1000; ++i) spool->note(spool::NodeNote::kNicTrouble, std::to_string(i), 1);
  spool->finish();
  const auto recording = read_node_spool(path);
  ASSERT_EQ(recording.notes.size(), 256U);
  EXPECT_EQ(recording.notes[0].second, "none");
  EXPECT_EQ(recording.notes[1].second, "0");
}

}  // namespace
}  // namespace jaxprof::netsampler

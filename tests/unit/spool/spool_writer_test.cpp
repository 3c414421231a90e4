#include "agent/spool/spool_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "agent/spool/spool_reader.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::spool {
namespace {

// Writes one block of `bytes` bytes of value `fill`.
bool write(SpoolWriter* writer, BlockKind kind, std::size_t bytes, char fill = 'x') {
  std::vector<std::uint8_t> buffer(SpoolWriter::kHeadroom + bytes, static_cast<std::uint8_t>(fill));
  return writer->write_block(kind, buffer.data(), bytes);
}

class SpoolWriterTest : public testing::Test {
 protected:
  test::TempFolder folder_;
  std::string path_ = folder_.file("a.jxspool");
  SpoolWriter writer_;
};

TEST_F(SpoolWriterTest, WhatItWritesIsWhatAReaderReads) {
  ASSERT_TRUE(writer_.create(path_.c_str(), 42));
  EXPECT_TRUE(write(&writer_, BlockKind::kIdentity, 3, 'i'));
  EXPECT_TRUE(write(&writer_, BlockKind::kState, 0));
  EXPECT_TRUE(write(&writer_, BlockKind::kEvents, kMaxPayload, 'e'));
  EXPECT_EQ(writer_.blocks(), 3u);
  EXPECT_EQ(writer_.bytes(), std::filesystem::file_size(path_));

  auto reader = SpoolReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->file_id(), 42u);
  Block block;
  ASSERT_TRUE(reader->next(&block));
  EXPECT_EQ(std::string(block.payload.begin(), block.payload.end()), "iii");
  ASSERT_TRUE(reader->next(&block));
  EXPECT_EQ(block.payload.size(), 0u);
  ASSERT_TRUE(reader->next(&block));
  EXPECT_EQ(block.payload.size(), kMaxPayload);
  EXPECT_EQ(block.sequence, 2u);
  EXPECT_FALSE(reader->next(&block));
  EXPECT_EQ(reader->health().torn_tail_bytes, 0u);
}

// A job that closes every descriptor gets our number for its next file.
TEST_F(SpoolWriterTest, NeverWritesToAFileThatTookItsDescriptor) {
  const int next = open("/dev/null", O_RDONLY);
  close(next);
  ASSERT_TRUE(writer_.create(path_.c_str(), 1));  // gets `next`
  const std::string foreign = folder_.file("foreign");
  const int foreign_fd = open(foreign.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_EQ(dup2(foreign_fd, next), next);
  EXPECT_FALSE(write(&writer_, BlockKind::kEvents, 10));
  EXPECT_TRUE(writer_.has_failed());
  EXPECT_EQ(std::filesystem::file_size(foreign), 0u);
  EXPECT_EQ(fcntl(next, F_GETFD), 0) << "the job's descriptor was closed";
  close(next);
  close(foreign_fd);
}

TEST_F(SpoolWriterTest, GoesOnWhereItWasClosed) {
  ASSERT_TRUE(writer_.create(path_.c_str(), 1));
  EXPECT_TRUE(write(&writer_, BlockKind::kIdentity, 3, 'i'));
  writer_.close();
  EXPECT_FALSE(write(&writer_, BlockKind::kEvents, 1));
  ASSERT_TRUE(writer_.resume(path_.c_str(), writer_.bytes(), writer_.blocks()));
  EXPECT_TRUE(write(&writer_, BlockKind::kEvents, 5, 'e'));
  auto reader = SpoolReader::open(path_);
  ASSERT_TRUE(reader);
  Block block;
  ASSERT_TRUE(reader->next(&block));
  ASSERT_TRUE(reader->next(&block));
  EXPECT_EQ(block.sequence, 1u);
  EXPECT_EQ(block.payload.size(), 5u);
}

TEST_F(SpoolWriterTest, NeverTakesAnExistingFile) {
  ASSERT_TRUE(writer_.create(path_.c_str(), 1));
  SpoolWriter second;
  EXPECT_FALSE(second.create(path_.c_str(), 2));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_FALSE(second.is_open());
}

TEST_F(SpoolWriterTest, RefusesAPayloadThatNoReaderTakes) {
  ASSERT_TRUE(writer_.create(path_.c_str(), 1));
  EXPECT_FALSE(write(&writer_, BlockKind::kState, kMaxPayload + 1));
  EXPECT_FALSE(writer_.has_failed());
  EXPECT_TRUE(write(&writer_, BlockKind::kState, 1));
}

TEST_F(SpoolWriterTest, WritesNothingBeforeItHasAFile) {
  EXPECT_FALSE(write(&writer_, BlockKind::kState, 1));
}

TEST_F(SpoolWriterTest, AFullDiskLeavesWholeBlocks) {
  const test::SmallDisk disk(folder_.path());
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  ASSERT_TRUE(writer_.create(path_.c_str(), 1));
  std::uint32_t written = 0;
  while (write(&writer_, BlockKind::kEvents, 5000)) ++written;
  EXPECT_GT(written, 5u);
  EXPECT_TRUE(writer_.has_failed());
  EXPECT_EQ(writer_.blocks(), written);
  EXPECT_EQ(std::filesystem::file_size(path_), writer_.bytes());
  EXPECT_FALSE(write(&writer_, BlockKind::kFooter, 1)) << "later blocks would hide that one is missing";

  auto reader = SpoolReader::open(path_);
  ASSERT_TRUE(reader);
  Block block;
  for (std::uint32_t i = 0; i < written; ++i) ASSERT_TRUE(reader->next(&block));
  EXPECT_FALSE(reader->next(&block));
  EXPECT_EQ(reader->health().torn_tail_bytes, 0u);
}

}  // namespace
}  // namespace jaxprof::spool

#include "agent/spool/spool_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <random>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/spool_bytes.h"

namespace jaxprof::spool {
namespace {

using test::SpoolBytes;
using testing::HasSubstr;

// What a reader gives out of a file: each block as "KIND:PAYLOAD".
struct Read {
  std::vector<std::string> blocks;
  SpoolHealth health;
  std::string error;
};

class SpoolReaderTest : public testing::Test {
 protected:
  Read read(std::string_view bytes) {
    test::write_file(path_, bytes);
    Read result;
    auto reader = SpoolReader::open(path_);
    if (!reader) {
      EXPECT_EQ(reader.error().code, ErrorCode::kInputUnreadable);
      result.error = reader.error().message;
      return result;
    }
    Block block;
    while (reader->next(&block)) {
      result.blocks.push_back(std::to_string(static_cast<int>(block.kind)) + ":" +
                              std::string(block.payload.begin(), block.payload.end()));
    }
    result.health = reader->health();
    return result;
  }

  // Five blocks of different lengths, one empty and one that holds a block's magic, and the footer.
  static SpoolBytes sample() {
    SpoolBytes spool;
    spool.add(BlockKind::kIdentity, "who");
    spool.add(BlockKind::kState, "");
    spool.add(BlockKind::kEvents, "JBLK in the middle JBLK");
    spool.add(BlockKind::kEvents, std::string(40, 'e'));
    spool.add(BlockKind::kFooter, "end");
    return spool;
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("a.jxspool");
};

TEST_F(SpoolReaderTest, RefusesAFifoInsteadOfWaitingForAWriter) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const auto reader = SpoolReader::open(path_);
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("is not a regular file"));
}

TEST_F(SpoolReaderTest, GivesEveryBlockInOrder) {
  const Read all = read(sample().bytes());
  EXPECT_THAT(all.blocks,
              testing::ElementsAre("1:who", "3:", "4:JBLK in the middle JBLK", "4:" + std::string(40, 'e'), "6:end"));
  EXPECT_EQ(all.health.file_bytes, sample().bytes().size());
  EXPECT_EQ(all.health.skipped_bytes + all.health.lost_blocks + all.health.torn_tail_bytes, 0u);
  EXPECT_TRUE(all.health.has_footer);
}

TEST_F(SpoolReaderTest, CutAtAnyByteItGivesTheWholeBlocksBefore) {
  const SpoolBytes spool = sample();
  const Read all = read(spool.bytes());
  for (std::size_t cut = sizeof(FileHeader); cut < spool.bytes().size(); ++cut) {
    const Read some = read(std::string_view(spool.bytes()).substr(0, cut));
    std::size_t whole = 0;
    std::size_t end = sizeof(FileHeader);
    while (spool.block_ends()[whole] <= cut) end = spool.block_ends()[whole++];
    ASSERT_EQ(some.blocks, std::vector(all.blocks.begin(), all.blocks.begin() + static_cast<std::ptrdiff_t>(whole)));
    ASSERT_EQ(some.health.torn_tail_bytes, cut - end) << cut;
    ASSERT_EQ(some.health.skipped_bytes, 0u);
    ASSERT_EQ(some.health.lost_blocks, 0u);
    ASSERT_FALSE(some.health.has_footer);
  }
}

TEST_F(SpoolReaderTest, AFlippedBitCostsItsBlockAndNoOther) {
  const SpoolBytes spool = sample();
  const Read all = read(spool.bytes());
  std::size_t damaged = 0;
  for (std::size_t at = sizeof(FileHeader); at < spool.bytes().size(); ++at) {
    while (spool.block_ends()[damaged] <= at) ++damaged;
    std::string bytes = spool.bytes();
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const Read some = read(bytes);
    std::vector<std::string> expected = all.blocks;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(damaged));
    ASSERT_EQ(some.blocks, expected) << "bit " << at % 8 << " of byte " << at;
    const std::size_t begin = damaged == 0 ? sizeof(FileHeader) : spool.block_ends()[damaged - 1];
    const bool is_last = damaged + 1 == all.blocks.size();
    ASSERT_EQ(some.health.skipped_bytes, is_last ? 0 : spool.block_ends()[damaged] - begin);
    ASSERT_EQ(some.health.skipped_stretches, is_last ? 0u : 1u);
    ASSERT_EQ(some.health.lost_blocks, is_last ? 0u : 1u);
    ASSERT_EQ(some.health.torn_tail_bytes, is_last ? spool.bytes().size() - begin : 0);
  }
}

TEST_F(SpoolReaderTest, FindsTheNextBlockBehindForeignBytes) {
  SpoolBytes before;
  before.add(BlockKind::kIdentity, "a");
  std::mt19937 random(4);
  for (int round = 0; round < 50; ++round) {
    std::string noise(1 + random() % 5000, '\0');
    for (char& byte : noise) byte = "JBLK\x01\x00x"[random() % 7];
    SpoolBytes whole;
    whole.add(BlockKind::kIdentity, "a");
    whole.add(BlockKind::kState, "b");
    const std::size_t seam = whole.block_ends()[0];
    const Read result = read(whole.bytes().substr(0, seam) + noise + whole.bytes().substr(seam));
    ASSERT_THAT(result.blocks, testing::ElementsAre("1:a", "3:b"));
    ASSERT_EQ(result.health.skipped_bytes, noise.size());
    ASSERT_EQ(result.health.lost_blocks, 0u);
  }
}

TEST_F(SpoolReaderTest, CountsBlocksThatAreMissing) {
  SpoolBytes spool;
  spool.add(BlockKind::kIdentity, "a");
  spool.skip_sequence(3);
  spool.add(BlockKind::kState, "b");
  spool.skip_sequence(2);
  spool.add(BlockKind::kState, "c");
  EXPECT_EQ(read(spool.bytes()).health.lost_blocks, 5u);
}

TEST_F(SpoolReaderTest, PassesOnKindsThatItDoesNotKnow) {
  SpoolBytes spool;
  spool.add(static_cast<BlockKind>(999), "later");
  EXPECT_THAT(read(spool.bytes()).blocks, testing::ElementsAre("999:later"));
}

TEST_F(SpoolReaderTest, ABlockLongerThanAnyWriterWritesIsDamage) {
  SpoolBytes spool;
  spool.add(BlockKind::kIdentity, "a");
  spool.add(BlockKind::kState, std::string(kMaxPayload + 1, 'x'));
  spool.add(BlockKind::kState, "b");
  const Read result = read(spool.bytes());
  EXPECT_THAT(result.blocks, testing::ElementsAre("1:a", "3:b"));
  EXPECT_EQ(result.health.lost_blocks, 1u);
}

TEST_F(SpoolReaderTest, SaysWhatAFileIsInstead) {
  EXPECT_THAT(read("").error, HasSubstr("a.jxspool is empty"));
  EXPECT_THAT(read("JXSPOOL").error, HasSubstr("no jaxprof spool: 7 bytes are less than a header"));
  EXPECT_THAT(read(std::string(500, 'x')).error, HasSubstr("does not start with JXSPOOL"));
  EXPECT_THAT(read(SpoolBytes(1, kFormatVersion + 1).bytes()).error, HasSubstr("spool format 2 is newer than 1"));
  std::filesystem::remove(path_);
  EXPECT_EQ(SpoolReader::open(path_).error().message, "cannot open " + path_ + ": No such file or directory");
  EXPECT_THAT(SpoolReader::open(folder_.path()).error().message, HasSubstr("is not a regular file"));
}

TEST_F(SpoolReaderTest, RefusesADamagedHeader) {
  for (std::size_t at = 0; at < sizeof(FileHeader); ++at) {
    std::string bytes = sample().bytes();
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    EXPECT_NE(read(bytes).error, "") << at;
  }
}

TEST_F(SpoolReaderTest, KeepsItsPlaceWhenItIsMoved) {
  test::write_file(path_, sample().bytes());
  auto reader = SpoolReader::open(path_);
  Block block;
  ASSERT_TRUE(reader->next(&block));
  SpoolReader moved = std::move(*reader);
  ASSERT_TRUE(moved.next(&block));
  EXPECT_EQ(block.kind, BlockKind::kState);
  EXPECT_EQ(moved.file_id(), 1u);
}

}  // namespace
}  // namespace jaxprof::spool

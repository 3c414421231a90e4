#include "agent/spool/memory_file.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "agent/base/atomic_file.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::spool {
namespace {

class MemoryFileTest : public testing::Test {
 protected:
  // The file as another process would see it.
  std::string content() const { return read_small_file(path_, 64 << 20).value_or(""); }
  const MemoryHeader& header_of(const std::string& bytes) const {
    return *reinterpret_cast<const MemoryHeader*>(bytes.data());
  }

  test::TempFolder folder_;
  std::string path_ = folder_.file("slot0.rings");
  MemoryFile memory_;
};

TEST_F(MemoryFileTest, DescribesItsSegmentsToWhoeverOpensIt) {
  ASSERT_TRUE(memory_.create(path_.c_str(), 77));
  auto* log = static_cast<char*>(memory_.add_segment(SegmentKind::kStateLog, 5000));
  auto* ring = static_cast<char*>(memory_.add_segment(SegmentKind::kRing, 100));
  ASSERT_NE(log, nullptr);
  ASSERT_NE(ring, nullptr);
  std::strcpy(log, "registrations");
  std::strcpy(ring, "events");
  const std::string bytes = content();
  const MemoryHeader& header = header_of(bytes);
  EXPECT_EQ(std::memcmp(header.magic, kMemoryMagic, sizeof kMemoryMagic), 0);
  EXPECT_EQ(header.pid, 77u);
  ASSERT_EQ(header.segment_count.load(), 2u);
  EXPECT_EQ(header.segments[0].kind.load(), SegmentKind::kStateLog);
  EXPECT_EQ(header.segments[1].kind.load(), SegmentKind::kRing);
  EXPECT_STREQ(bytes.data() + header.segments[0].offset, "registrations");
  EXPECT_STREQ(bytes.data() + header.segments[1].offset, "events");
  EXPECT_GE(header.segments[0].bytes, 5000u);
  EXPECT_EQ(header.segments[1].offset + header.segments[1].bytes, bytes.size());
}

TEST_F(MemoryFileTest, SegmentsAreZeroAndAllocated) {
  ASSERT_TRUE(memory_.create(path_.c_str(), 1));
  constexpr std::size_t kBytes = 1 << 20;
  const auto* segment = static_cast<const char*>(memory_.add_segment(SegmentKind::kRing, kBytes));
  EXPECT_TRUE(std::all_of(segment, segment + kBytes, [](char byte) { return byte == 0; }));
}

TEST_F(MemoryFileTest, StopsWhenItsTableIsFull) {
  ASSERT_TRUE(memory_.create(path_.c_str(), 1));
  for (std::uint32_t i = 0; i < kMaxSegments; ++i) ASSERT_NE(memory_.add_segment(SegmentKind::kRing, 1), nullptr);
  EXPECT_EQ(memory_.add_segment(SegmentKind::kRing, 1), nullptr);
}

TEST_F(MemoryFileTest, NeverTakesAnExistingFile) {
  ASSERT_TRUE(memory_.create(path_.c_str(), 1));
  MemoryFile second;
  EXPECT_FALSE(second.create(path_.c_str(), 2));
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(second.add_segment(SegmentKind::kRing, 1), nullptr);
}

TEST_F(MemoryFileTest, AFullDiskIsAFailureAndNoSignal) {
  const test::SmallDisk disk(folder_.path(), "size=256k");
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  ASSERT_TRUE(memory_.create(path_.c_str(), 1));
  void* last = nullptr;
  int segments = 0;
  while (void* segment = memory_.add_segment(SegmentKind::kRing, 32 << 10)) {
    std::memset(segment, 0xff, 32 << 10);  // SIGBUS if a page of it had no block
    last = segment;
    ASSERT_LT(++segments, 16);
  }
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_NE(last, nullptr);
  EXPECT_EQ(header_of(content()).segment_count.load(), static_cast<std::uint32_t>(segments));
}

TEST_F(MemoryFileTest, NoRoomForTheTableIsAFailure) {
  const test::SmallDisk disk(folder_.path(), "size=4k");
  if (!disk.has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
  EXPECT_FALSE(memory_.create(path_.c_str(), 1));
  EXPECT_FALSE(memory_.is_open());
}

}  // namespace
}  // namespace jaxprof::spool

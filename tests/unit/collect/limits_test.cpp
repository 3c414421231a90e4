// What a process does when its task's recording is stopped: the spool is complete and says why, the program goes on,
// and what it calls from then on is counted.
#include "agent/collect/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "agent/base/disk_room.h"
#include "tests/unit/collect/child_run.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::collect {
namespace {

using spool::FooterReason;
using test::ChildRun;

constexpr const char* kProgram = JAXPROF_CHILD;

FooterReason reason_of(const rundir::SpoolTrace& trace) {
  return trace.footer() ? static_cast<FooterReason>(trace.footer()->record.reason) : FooterReason{};
}

TEST(SpoolLimit, EndsTheRecordingAndNothingElse) {
  ChildRun child;
  child.plan().spool_limit_bytes = 200'000;
  ASSERT_EQ(child.run(kProgram, "until_stopped"), 0);
  EXPECT_EQ(child.reported("stopped"), 1);
  EXPECT_EQ(child.slot().state.load(), SlotState::kEnded);
  EXPECT_EQ(child.page().stop.load(), StopReason::kSpoolLimit);
  EXPECT_EQ(child.page().spool_bytes.load(), std::filesystem::file_size(child.spool_path()));
  const rundir::SpoolTrace trace = child.trace();
  EXPECT_EQ(reason_of(trace), FooterReason::kSpoolLimit);
  EXPECT_EQ(static_cast<std::int64_t>(test::events_of(trace).size()), child.reported("recorded"));
  EXPECT_GE(trace.health().file_bytes, 200'000u);
  // What the rings held when the limit was met, and no more, lies beyond it.
  EXPECT_LT(trace.health().file_bytes, 200'000u + 4 * ChildRun::kRingBytes);
}

TEST(SpoolLimit, LaterCallsAreCountedAndLaterStringsKeptNowhere) {
  ChildRun child;
  child.plan().spool_limit_bytes = 100'000;
  ASSERT_EQ(child.run(kProgram, "until_stopped"), 0);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(child.reported("late" + std::to_string(i)), 0);
  EXPECT_GE(child.drops(Drop::kAfterEnd), 5u);
  EXPECT_EQ(child.reported("late_string"), 1);
  EXPECT_EQ(child.drops(Drop::kStateLogFull), 0u);
}

TEST(SpoolLimit, OfZeroIsNone) {
  ChildRun child;
  child.plan().spool_limit_bytes = 0;
  ASSERT_EQ(child.run(kProgram, "flood"), 0);
  EXPECT_EQ(child.page().stop.load(), StopReason::kNone);
  EXPECT_EQ(reason_of(child.trace()), FooterReason::kExit);
}

TEST(Stop, ByTheWrapperEndsTheSpoolWithItsReason) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "is_stopped_by_its_wrapper"), 0);
  EXPECT_EQ(child.reported("told"), 1);
  EXPECT_EQ(child.reported("told_again"), 0);
  EXPECT_EQ(child.reported("stopped"), 1);
  EXPECT_EQ(reason_of(child.trace()), FooterReason::kDeadline);
  EXPECT_EQ(test::events_of(child.trace()).size(), 1u);
  EXPECT_EQ(child.drops(Drop::kAfterEnd), 1u);
}

// Whichever is first gives the reason, and nothing is lost.
TEST(Stop, TogetherWithExitLeavesAWholeSpool) {
  for (int i = 0; i < 20; ++i) {
    ChildRun child;
    ASSERT_EQ(child.run(kProgram, "exits_as_it_is_stopped"), 0);
    EXPECT_THAT(reason_of(child.trace()), testing::AnyOf(FooterReason::kExit, FooterReason::kDeadline));
    EXPECT_EQ(test::events_of(child.trace()).size(), 100u);
    EXPECT_EQ(child.slot().state.load(), SlotState::kEnded);
  }
}

TEST(Stop, BeforeAProcessAttachesKeepsItOutWithTheReason) {
  ChildRun child;
  stop_recording(&child.page(), StopReason::kDeadline);
  ASSERT_EQ(child.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child.reported("attached"), 0);
  EXPECT_EQ(child.slot().state.load(), SlotState::kStopped);
  EXPECT_STREQ(child.slot().note, "its task's recording had been stopped before it began: deadline");
  EXPECT_TRUE(std::filesystem::is_empty(child.folder()));
}

TEST(WriteFailure, StopsTheRecordingAndIsToldWithItsCause) {
  ChildRun child;
  ASSERT_EQ(child.run(kProgram, "cannot_write_its_spool"), 0);
  EXPECT_EQ(child.page().stop.load(), StopReason::kWriteFailed);
  EXPECT_STREQ(child.slot().note, "its spool could not be written (File too large)");
  EXPECT_GT(child.drops(Drop::kSpoolWriteFailed), 0u);
  EXPECT_EQ(child.slot().state.load(), SlotState::kRecording) << "what is left is the wrapper's to save";
  EXPECT_FALSE(child.trace().footer());
}

class DiskReserve : public testing::Test {
 protected:
  // A disk for the spools of which all but `free` is taken.
  void fill_disk(const char* options, std::uint64_t free) {
    disk_.emplace(child_.folder(), options);
    if (!disk_->has_mounted()) GTEST_SKIP() << "cannot mount a tmpfs: " << std::strerror(errno);
    const auto room = disk_room_of(child_.folder().c_str());
    ASSERT_TRUE(room && room->free_bytes > free);
    std::ofstream ballast(child_.folder() + "/ballast");
    ballast << std::string(room->free_bytes - free, 'x');
    ASSERT_TRUE(ballast.flush());
  }

  ChildRun child_;
  std::optional<test::SmallDisk> disk_;
};

TEST_F(DiskReserve, ThatIsTouchedKeepsAProcessOut) {
  fill_disk("size=40m", 1 << 20);
  ASSERT_EQ(child_.run(kProgram, "one_event"), 0);
  EXPECT_EQ(child_.slot().state.load(), SlotState::kStopped);
  EXPECT_EQ(child_.page().stop.load(), StopReason::kDiskReserve);
}

TEST_F(DiskReserve, EndsTheRecordingWhileThereIsRoomForTheFooter) {
  fill_disk("size=40m", 8 << 20);
  ASSERT_EQ(child_.run(kProgram, "until_stopped"), 0);
  EXPECT_EQ(child_.page().stop.load(), StopReason::kDiskReserve);
  EXPECT_EQ(reason_of(child_.trace()), FooterReason::kDiskReserve);
  EXPECT_EQ(child_.drops(Drop::kSpoolWriteFailed), 0u);
}

TEST(DiskRoom, ReservesOneGiBOrATwentieth) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  EXPECT_EQ((DiskRoom{0, 100 * kGiB}).reserve_bytes(), kGiB);
  EXPECT_EQ((DiskRoom{0, 2 * kGiB}).reserve_bytes(), kGiB / 10);
  EXPECT_TRUE((DiskRoom{kGiB - 1, 100 * kGiB}).is_at_reserve());
  EXPECT_FALSE((DiskRoom{kGiB, 100 * kGiB}).is_at_reserve());
}

TEST(DiskRoom, IsUnknownWhereAFileSystemTellsNoSize) {
  EXPECT_FALSE(disk_room_of("/proc"));
  EXPECT_FALSE(disk_room_of("/no/such/folder"));
  EXPECT_FALSE(disk_room_of(-1));
  EXPECT_TRUE(disk_room_of("/"));
}

}  // namespace
}  // namespace jaxprof::collect

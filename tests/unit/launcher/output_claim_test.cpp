#include "launcher/output_claim.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "agent/contract/task_record.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

class OutputClaimTest : public testing::Test {
 protected:
  bool claims(bool can_replace, const std::string& stem = "rank0") {
    const auto claim = claim_output(folder_.path(), stem, {"new.0.0", "this-boot", can_replace});
    EXPECT_TRUE(claim);
    return claim && claim->has_value();
  }
  bool exists(const char* name) const { return std::filesystem::exists(folder_.file(name)); }
  void make(const char* name) { std::ofstream(folder_.file(name)) << "x"; }

  // A run that wrote, or writes, rank0.
  void record(const std::string& run_id, bool has_ended, const std::string& boot_id = "other-boot",
              std::int64_t pid = 1) {
    const std::string state = run_layout::run_state_directory(folder_.path(), run_id);
    ASSERT_TRUE(make_directories(state));
    TaskStart start;
    start.run_id = run_id;
    start.task = "rank0";
    start.stem = "rank0";
    start.boot_id = boot_id;
    start.pid = pid;
    ASSERT_TRUE(write_atomic_file(run_layout::task_start_path(state, "rank0"), to_json(start), Publish::kReplace));
    if (!has_ended) return;
    TaskEnd end;
    end.task = "rank0";
    ASSERT_TRUE(write_atomic_file(run_layout::task_end_path(state, "rank0"), to_json(end), Publish::kReplace));
  }

  test::TempFolder folder_;
};

TEST_F(OutputClaimTest, AFreeNameIsClaimedOnce) {
  EXPECT_TRUE(claims(false));
  EXPECT_TRUE(exists("rank0.jxspool.part"));
  EXPECT_FALSE(claims(false));
  EXPECT_FALSE(claims(true)) << "an unfinished file that nobody knows may be being written";
  EXPECT_TRUE(claims(false, "rank1"));
}

TEST_F(OutputClaimTest, OfManyAtOnceOneGetsIt) {
  std::atomic<int> got{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { got += claims(false) ? 1 : 0; });
  }
  EXPECT_EQ(got, 1);
}

TEST_F(OutputClaimTest, AFinishedFileIsReplacedOnlyIfAllowed) {
  make("rank0.jxspool");
  EXPECT_FALSE(claims(false));
  EXPECT_FALSE(exists("rank0.jxspool.part"));
  EXPECT_TRUE(claims(true));
  EXPECT_TRUE(exists("rank0.jxspool")) << "the old file stays until the new one is complete";
}

TEST_F(OutputClaimTest, ARunThatHasEndedIsReplaced) {
  record("old.0.0", true);
  make("rank0.jxspool.part");
  EXPECT_FALSE(claims(false));
  EXPECT_TRUE(claims(true));
}

TEST_F(OutputClaimTest, ARunThatGoesOnIsNot) {
  record("old.0.0", false);
  make("rank0.jxspool.part");
  EXPECT_FALSE(claims(true));
  EXPECT_TRUE(exists("rank0.jxspool.part"));
}

TEST_F(OutputClaimTest, ARunKilledOnThisNodeIsReplaced) {
  constexpr std::int64_t kNoSuchPid = 0x3fffffff;
  record("old.0.0", false, "this-boot", kNoSuchPid);
  make("rank0.jxspool.part");
  EXPECT_TRUE(claims(true));
}

TEST_F(OutputClaimTest, ATaskThatLivesOnThisNodeIsNot) {
  record("old.0.0", false, "this-boot", getpid());
  make("rank0.jxspool.part");
  EXPECT_FALSE(claims(true));
}

TEST_F(OutputClaimTest, AnotherRankOfTheSameRunIsNeverReplaced) {
  record("new.0.0", true);
  make("rank0.jxspool");
  EXPECT_FALSE(claims(true));
}

TEST_F(OutputClaimTest, AReleasedNameIsFreeAgain) {
  ASSERT_TRUE(claims(false));
  release_claim(folder_.path(), {"rank0", false});
  EXPECT_FALSE(exists("rank0.jxspool.part"));
  EXPECT_TRUE(claims(false));
}

TEST_F(OutputClaimTest, AnUnreachableDirectoryIsAnError) {
  const auto claim = claim_output("/no/such/folder", "rank0", {});
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().code, ErrorCode::kOutputFailed);
}

}  // namespace
}  // namespace jaxprof::launcher

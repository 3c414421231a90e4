#include "launcher/limit_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

using testing::MatchesRegex;

class LimitWatchTest : public testing::Test {
 protected:
  LimitWatchTest() {
    for (int rank = 0; rank < 2; ++rank) {
      Task& task = tasks_[rank];
      task.node.host = "n1";
      task.name = std::to_string(rank);
      task.plan.rank.rank = rank;
      task.plan.rank.launcher = Launcher::kSlurm;
      task.plan.state_directory = folder_.path();
      task.spool_directory = folder_.path();
      task.page = create_session_page((folder_.path() + "/session" + task.name).c_str());
      task.page->plan.spool_limit_bytes = 1'000'000;
      task.page->spool_bytes = 1'200'000;
    }
    options_.margin_ns = 0;
  }
  ~LimitWatchTest() override {
    for (Task& task : tasks_) munmap(task.page, sizeof(SessionPage));
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }

  // What the wrappers of all tasks say while their jobs run.
  std::string said() {
    testing::internal::CaptureStderr();
    LimitWatch first(options_, tasks_[0]), second(options_, tasks_[1]);
    first.start();
    second.start();
    for (int i = 0; i < 2000 && !has_mark(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    first.stop();
    second.stop();
    return testing::internal::GetCapturedStderr();
  }
  bool has_mark() const {
    return std::any_of(std::filesystem::directory_iterator(folder_.path()), {}, [](const auto& entry) {
      return entry.path().filename().string().starts_with(run_layout::kMarkPrefix);
    });
  }

  test::TempFolder folder_;
  Options options_;
  Task tasks_[2];
};

TEST_F(LimitWatchTest, SaysOnceARunWhyRecordingStopped) {
  for (Task& task : tasks_) stop_recording(task.page, StopReason::kSpoolLimit);
  EXPECT_THAT(said(), MatchesRegex("[^\n]*: recording of rank [01] on n1 stopped: its spools have 1.2 MB, and "
                                   "--spool-limit is 1.0 MB; the job goes on\n"));
}

TEST_F(LimitWatchTest, SaysNothingWhereAnotherHas) {
  std::ofstream(run_layout::mark_path(folder_.path(), "stop-spool-limit")) << "";
  for (Task& task : tasks_) stop_recording(task.page, StopReason::kSpoolLimit);
  EXPECT_EQ(said(), "");
}

TEST_F(LimitWatchTest, KeepsQuietOfATimeLimitIfAsked) {
  options_.is_quiet = true;
  for (Task& task : tasks_) stop_recording(task.page, StopReason::kDeadline);
  EXPECT_EQ(said(), "");
}

TEST_F(LimitWatchTest, EndsAtOnceWhereNothingHappens) {
  LimitWatch watch(options_, tasks_[0]);
  watch.stop();
  watch.start();
  watch.stop();
  EXPECT_EQ(tasks_[0].page->stop.load(), StopReason::kNone);
}

// Space may have come back since: only what held at the stop is said.
TEST_F(LimitWatchTest, TellsWhatTheDiskHadLessThan) {
  const std::string text = describe_stop(StopReason::kDiskReserve, tasks_[1], Deadline({}));
  EXPECT_THAT(text,
              MatchesRegex("recording of rank 1 on n1 stopped: less than [0-9.]+ [kMGT]?B were free on the disk of " +
                           folder_.path() + "; the job goes on"));
}

TEST_F(LimitWatchTest, TellsWhichProcessCouldNotWriteItsSpool) {
  std::uint32_t index = 0;
  claim_slot(tasks_[0].page, &index)->pid = 76;
  ProcessSlot* slot = claim_slot(tasks_[0].page, &index);
  slot->pid = 77;
  slot->drops[static_cast<int>(Drop::kSpoolWriteFailed)] = 5;
  std::strcpy(slot->note, "its spool could not be written (No space left on device)");
  stop_recording(tasks_[0].page, StopReason::kWriteFailed);
  EXPECT_THAT(said(),
              MatchesRegex("[^\n]*: recording of rank 0 on n1 stopped: process 77: its spool could not be written "
                           "\\(No space left on device\\); the job goes on\n"));
}

}  // namespace
}  // namespace jaxprof::launcher

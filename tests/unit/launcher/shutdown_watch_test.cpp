#include "launcher/shutdown_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

class Shutdown : public testing::Test {
 protected:
  void watch(WindowEnd end, std::int64_t grace_ns) {
    page_->plan.window.end = end;
    watch_.emplace(
        *page_, grace_ns, folder_.file("mark"), [this] { tell(asked_); }, [this] { tell(killed_); });
    watch_->start();
  }
  static void tell(std::atomic<bool>& flag) {
    flag = true;
    flag.notify_all();
  }

  test::TempFolder folder_;
  std::unique_ptr<SessionPage> page_ = std::make_unique<SessionPage>();
  std::atomic<bool> asked_{false}, killed_{false};
  std::optional<ShutdownWatch> watch_;
};

TEST_F(Shutdown, AsksOnceAWindowIsOverAndKillsWhatStays) {
  watch(WindowEnd::kStopShutdown, 1'000'000);
  page_->asks_shutdown = 1;
  asked_.wait(false);
  killed_.wait(false);
  watch_->stop();
}

TEST_F(Shutdown, DoesNotKillWhatEnds) {
  watch(WindowEnd::kRepeatShutdown, 3600'000'000'000);
  page_->asks_shutdown = 1;
  asked_.wait(false);
  watch_->stop();
  EXPECT_FALSE(killed_);
}

TEST_F(Shutdown, WaitsForWindowsThatAreStillOpen) {
  page_->claimed_slots = 1;
  page_->slots[0].state = SlotState::kRecording;
  page_->slots[0].window = WindowState::kOpen;
  watch(WindowEnd::kStopShutdown, 3600'000'000'000);
  page_->asks_shutdown = 1;
  EXPECT_FALSE(asked_) << "it has two seconds to close";
  page_->slots[0].window = WindowState::kDone;
  asked_.wait(false);
  watch_->stop();
}

TEST_F(Shutdown, TheFirstOfTheRunSaysWhy) {
  const auto said = [this] {
    asked_ = false;
    testing::internal::CaptureStderr();
    watch(WindowEnd::kStopShutdown, 3600'000'000'000);
    asked_.wait(false);
    watch_->stop();
    return testing::internal::GetCapturedStderr();
  };
  page_->plan.window.kind = WindowKind::kProfiler;
  page_->asks_shutdown = 1;
  EXPECT_EQ(said(),
            "jaxprof: window cudaProfilerApi closed: ending the job, as --capture-range-end stop-shutdown asks\n");
  EXPECT_EQ(said(), "") << "another task has made the mark";
}

TEST_F(Shutdown, HasNoPartInOtherWindows) {
  page_->asks_shutdown = 1;
  watch(WindowEnd::kStop, 0);
  watch_->stop();
  EXPECT_FALSE(asked_);
}

}  // namespace
}  // namespace jaxprof::launcher

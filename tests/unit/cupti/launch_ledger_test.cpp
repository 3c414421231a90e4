#include "agent/cupti/launch_ledger.h"

#include <gtest/gtest.h>

#include <memory>

namespace jaxprof::cupti {
namespace {

TEST(LaunchLedger, CountsCallsWithoutWorkInEitherOrder) {
  const auto ledger = std::make_unique<LaunchLedger>();
  ledger->add_call(1);
  ledger->add_work(2);
  EXPECT_EQ(ledger->open_launches(), 1U);
  ledger->add_call(2);
  ledger->add_work(1);
  EXPECT_EQ(ledger->open_launches(), 0U);
}

TEST(LaunchLedger, TakesRunTimeAndDriverCallOfOneLaunchAsOne) {
  const auto ledger = std::make_unique<LaunchLedger>();
  ledger->add_call(7);
  ledger->add_call(7);
  EXPECT_EQ(ledger->open_launches(), 1U);
  ledger->add_work(7);
  ledger->add_work(7);  // a graph's nodes share it
  EXPECT_EQ(ledger->open_launches(), 0U);
}

TEST(LaunchLedger, ForgetsLaunchesThatNeverYieldWork) {
  const auto ledger = std::make_unique<LaunchLedger>();
  ledger->add_call(1);
  for (std::uint32_t i = 2; i < 100'000; ++i) {
    ledger->add_call(i);
    ledger->add_work(i);
  }
  EXPECT_EQ(ledger->open_launches(), 0U);
  EXPECT_FALSE(ledger->has_call(1));
  EXPECT_TRUE(ledger->has_call(99'999));
}

// CUPTI gives buffers of calls and of work back as it likes.
TEST(LaunchLedger, LosesNoneWhereAllWorkOrAllCallsComeFirst) {
  for (const bool has_work_first : {true, false}) {
    for (const std::uint32_t first : {1U, 0x7fffff00U, 0xffffff00U}) {
      const auto ledger = std::make_unique<LaunchLedger>();
      for (std::uint32_t i = 0; i < 20'000; ++i) {
        has_work_first ? ledger->add_work(first + i) : ledger->add_call(first + i);
      }
      for (std::uint32_t i = 0; i < 20'000; ++i) {
        has_work_first ? ledger->add_call(first + i) : ledger->add_work(first + i);
      }
      EXPECT_EQ(ledger->open_launches(), 0U) << first;
    }
  }
}

TEST(LaunchLedger, ForgetsWhatIsOpenWhenItIsAskedTo) {
  const auto ledger = std::make_unique<LaunchLedger>();
  ledger->add_call(1);
  ledger->add_call(2);
  ledger->add_work(2);
  ledger->ask_to_forget();
  EXPECT_EQ(ledger->open_launches(), 1U) << "until the reader looks";
  ledger->forget_if_asked();
  EXPECT_EQ(ledger->open_launches(), 0U);
  EXPECT_TRUE(ledger->has_call(1)) << "its work is still of the window, should it come";
  ledger->add_call(3);
  ledger->forget_if_asked();
  EXPECT_EQ(ledger->open_launches(), 1U) << "once an asking";
  ledger->add_work(1);
  ledger->add_work(3);
  EXPECT_EQ(ledger->open_launches(), 0U);
}

TEST(LaunchLedger, IgnoresRecordsWithoutACorrelation) {
  const auto ledger = std::make_unique<LaunchLedger>();
  ledger->add_call(0);
  EXPECT_EQ(ledger->open_launches(), 0U);
  EXPECT_FALSE(ledger->has_call(0));
}

}  // namespace
}  // namespace jaxprof::cupti

#include "launcher/run_start_time.h"

#include <gtest/gtest.h>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

TEST(AgreeOnStartTime, IsTheFirstOnesClock) {
  test::TempFolder folder;
  EXPECT_EQ(agree_on_start_time(folder.path(), 1000).value_or(-1), 1000);
  EXPECT_EQ(agree_on_start_time(folder.path(), 2000).value_or(-1), 1000);
  EXPECT_EQ(agree_on_start_time(folder.path(), 500).value_or(-1), 1000);
}

TEST(AgreeOnStartTime, OfAnEarlierRunIsNotTaken) {
  test::TempFolder folder;
  ASSERT_TRUE(agree_on_start_time(folder.path(), 1000));
  ASSERT_TRUE(write_atomic_file(run_layout::mark_path(folder.path(), "last"), "", Publish::kIfAbsent));
  EXPECT_FALSE(agree_on_start_time(folder.path(), 2000));
}

TEST(AgreeOnStartTime, WhatIsNoTimeIsAFault) {
  for (const char* text : {"", "x", "0\n", "-5\n", "12 13\n"}) {
    test::TempFolder folder;
    ASSERT_TRUE(write_atomic_file(run_layout::start_time_path(folder.path()), text, Publish::kIfAbsent));
    EXPECT_FALSE(agree_on_start_time(folder.path(), 2000)) << text;
  }
  EXPECT_FALSE(agree_on_start_time("/nonexistent", 2000));
}

}  // namespace
}  // namespace jaxprof::launcher

#include "agent/cupti/graph_launches.h"

#include <gtest/gtest.h>

#include <memory>

namespace jaxprof::cupti {
namespace {

constexpr std::uint32_t kGraph = 9;

class GraphLaunchesTest : public testing::Test {
 protected:
  void add(std::uint32_t correlation, int records, std::uint32_t graph = kGraph) {
    for (int i = 0; i < records; ++i) launches_->add_work(graph, correlation);
  }
  std::unique_ptr<GraphLaunches> launches_ = std::make_unique<GraphLaunches>();
};

TEST_F(GraphLaunchesTest, ALaunchIsShortUntilItHasAsManyRecordsAsTheOneBefore) {
  add(1, 5);
  add(2, 4);
  EXPECT_EQ(launches_->short_launches(), 1U);
  EXPECT_EQ(launches_->unmeasured_launches(), 0U);
  add(2, 1);
  EXPECT_EQ(launches_->short_launches(), 0U);
  add(3, 5);
  EXPECT_EQ(launches_->short_launches(), 0U);
  EXPECT_EQ(launches_->unmeasured_launches(), 0U);
}

TEST_F(GraphLaunchesTest, WorkOfNoGraphIsNoLaunch) {
  add(1, 3, 0);
  EXPECT_EQ(launches_->unmeasured_launches(), 0U);
}

TEST_F(GraphLaunchesTest, NobodyKnowsTheSizeOfAGraphThatWasLaunchedOnce) {
  add(1, 5);
  add(2, 1, kGraph + 1);
  EXPECT_EQ(launches_->unmeasured_launches(), 2U);
  EXPECT_EQ(launches_->short_launches(), 0U);
}

TEST_F(GraphLaunchesTest, NorOfOneWhoseLaunchesDiffer) {
  add(1, 5);
  add(2, 3);
  EXPECT_EQ(launches_->short_launches(), 1U);
  add(3, 3);
  EXPECT_EQ(launches_->short_launches(), 0U) << "not for ever: the next one ran, so it was over";
  EXPECT_EQ(launches_->unmeasured_launches(), 1U);
  add(4, 9);
  EXPECT_EQ(launches_->unmeasured_launches(), 1U);
}

TEST_F(GraphLaunchesTest, RecordsOfTwoLaunchesThatComeMixedMeasureNothing) {
  add(1, 4);
  add(2, 1);
  add(1, 1);
  add(2, 3);
  EXPECT_EQ(launches_->short_launches(), 0U);
  EXPECT_EQ(launches_->unmeasured_launches(), 1U);
}

TEST_F(GraphLaunchesTest, NumbersOfLaunchesWrap) {
  add(0xffffffffU, 2);
  add(1, 1);
  EXPECT_EQ(launches_->short_launches(), 1U);
  add(1, 1);
  EXPECT_EQ(launches_->short_launches(), 0U);
}

TEST_F(GraphLaunchesTest, AGraphThatTakesAnothersPlaceIsCountedOnce) {
  add(1, 5);
  add(2, 1);
  add(3, 5, kGraph + (1U << 12));
  EXPECT_EQ(launches_->short_launches(), 0U);
  EXPECT_EQ(launches_->unmeasured_launches(), 1U);
}

TEST_F(GraphLaunchesTest, ForgetsWhatItIsAskedTo) {
  add(1, 5);
  add(2, 1);
  add(3, 1, kGraph + 1);
  launches_->ask_to_forget();
  EXPECT_EQ(launches_->short_launches(), 1U) << "until the reader looks";
  launches_->forget_if_asked();
  EXPECT_EQ(launches_->short_launches(), 0U);
  EXPECT_EQ(launches_->unmeasured_launches(), 0U);
  add(4, 1);
  EXPECT_EQ(launches_->unmeasured_launches(), 1U) << "its last launch was cut short";
}

}  // namespace
}  // namespace jaxprof::cupti

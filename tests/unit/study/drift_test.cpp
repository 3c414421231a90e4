#include "merge/study/drift.h"

#include <gtest/gtest.h>

#include <vector>

namespace jaxprof::study {
namespace {

struct Series {
  std::vector<std::int64_t> values_ns;
  std::vector<std::uint32_t> steps;
  void add(std::uint32_t step, std::int64_t value_ns) {
    steps.push_back(step);
    values_ns.push_back(value_ns);
  }
};

TEST(Drift, IsTheGrowthFromTheFirstStepToTheLast) {
  Series series;
  for (std::uint32_t step = 0; step <= 10; ++step) {
    for (const std::int64_t off : {-3, 0, 3}) series.add(step, 1000 + 10 * step + off);
  }
  EXPECT_NEAR(*drift_of(series.values_ns, series.steps), 100.0 / 1050, 1e-9);
}

TEST(Drift, IsNotMovedByAnOddStep) {
  Series series;
  for (std::uint32_t step = 0; step < 40; ++step) series.add(step, step == 39 ? 50'000 : 1000);
  EXPECT_EQ(*drift_of(series.values_ns, series.steps), 0);
}

TEST(Drift, TakesStepsInAnyOrderAndManyOfThem) {
  Series series;
  for (std::uint32_t step = 2000; step-- > 0;) series.add(step, 100'000 + step);
  EXPECT_NEAR(*drift_of(series.values_ns, series.steps), 1999.0 / 100'999.5, 1e-3);
}

TEST(Drift, NeedsEightSteps) {
  Series series;
  for (std::uint32_t step = 0; step < 7; ++step) series.add(step, 100);
  EXPECT_EQ(drift_of(series.values_ns, series.steps), std::nullopt);
  EXPECT_EQ(drift_of({}, {}), std::nullopt);
}

}  // namespace
}  // namespace jaxprof::study

// Against bitmaps: one bit an instant and class.
#include "merge/study/busy_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace jaxprof::study {
namespace {

constexpr std::size_t kInstants = 2000;

std::vector<GpuWork> random_work(std::mt19937_64& random) {
  std::vector<GpuWork> work(random() % 60);
  for (GpuWork& one : work) {
    one.start_ns = static_cast<std::int64_t>(random() % 1800);
    one.end_ns = one.start_ns + static_cast<std::int64_t>(random() % 200);
    one.work_class = static_cast<WorkClass>(random() % 3);
  }
  std::sort(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  return work;
}

TEST(BusySweep, TellsEveryInstantOnceWithTheClassesThatABitmapHas) {
  std::mt19937_64 random{2026};
  for (int round = 0; round < 500; ++round) {
    const std::vector<GpuWork> work = random_work(random);
    std::vector<unsigned> expected(kInstants, 0);
    for (const GpuWork& one : work) {
      for (auto t = one.start_ns; t < one.end_ns; ++t) {
        expected[static_cast<std::size_t>(t)] |= 1U << static_cast<unsigned>(one.work_class);
      }
    }
    BusySweep sweep;
    std::int64_t told_to_ns = std::numeric_limits<std::int64_t>::min();
    const auto check = [&](TimeSpan span, unsigned classes) {
      EXPECT_EQ(span.begin_ns, told_to_ns);
      EXPECT_LT(span.begin_ns, span.end_ns);
      told_to_ns = span.end_ns;
      for (auto t = std::max<std::int64_t>(0, span.begin_ns); t < std::min<std::int64_t>(kInstants, span.end_ns); ++t) {
        ASSERT_EQ(classes, expected[static_cast<std::size_t>(t)]) << "at " << t << " of round " << round;
      }
      EXPECT_TRUE(classes == 0 || span.end_ns <= static_cast<std::int64_t>(kInstants));
    };
    for (const GpuWork& one : work) sweep.add(one, check);
    sweep.finish(check);
    EXPECT_EQ(told_to_ns, std::numeric_limits<std::int64_t>::max());
  }
}

TEST(BusySweep, TakesWorkOfADamagedFileThatGoesBackInTimeAsBeginningNow) {
  BusySweep sweep;
  std::int64_t busy_ns = 0;
  const auto sum = [&](TimeSpan span, unsigned classes) { busy_ns += classes != 0 ? span.end_ns - span.begin_ns : 0; };
  sweep.add({.start_ns = 100, .end_ns = 110}, sum);
  sweep.add({.start_ns = 50, .end_ns = 120}, sum);
  sweep.finish(sum);
  EXPECT_EQ(busy_ns, 20);
}

}  // namespace
}  // namespace jaxprof::study

#include "merge/study/utilmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "merge/study/breakdown.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;
using namespace test;

StudyOptions for_programs() {
  StudyOptions options;
  options.is_for_programs = true;
  return options;
}

TEST(Utilmap, HasSharesOfEqualBins) {
  const Table table = answer(kUtilmap,
                             run_of_work({.end_ns = 9'999}, {{.start_ns = 50, .dur_ns = 100},
                                                             {.start_ns = 110, .dur_ns = 20, .is_nccl = true}}),
                             for_programs());
  ASSERT_EQ(table.rows.size(), 100U);
  EXPECT_EQ(whole_at(table, 0, "wall_ns"), 100);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "compute"), 0.5);
  EXPECT_DOUBLE_EQ(real_at(table, 1, "compute"), 0.5);
  EXPECT_DOUBLE_EQ(real_at(table, 1, "comm"), 0.2);
  EXPECT_DOUBLE_EQ(real_at(table, 1, "both"), 0.2);
  EXPECT_DOUBLE_EQ(real_at(table, 2, "compute"), 0);
}

TEST(Utilmap, IsABarARankForPeople) {
  auto run = run_of_work({.processes = 2, .end_ns = 6'399},
                         {{.start_ns = 0, .dur_ns = 3'200}, {.process = 1, .start_ns = 0, .dur_ns = 100}});
  add_segment(run, 1, 0, 0, 3'200);
  const Table table = answer(kUtilmap, run);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text_at(table, 0, "compute"), "████████████████                ");
  EXPECT_EQ(text_at(table, 1, "compute"), "▄               ················");
}

TEST(Utilmap, SumsUpToTheBreakdown) {
  std::mt19937_64 random{4};
  std::vector<Work> work;
  for (int i = 0; i < 300; ++i) {
    work.push_back({.gpu = static_cast<std::int32_t>(random() % 2),
                    .start_ns = static_cast<std::int64_t>(random() % 9'000),
                    .dur_ns = static_cast<std::int64_t>(random() % 90),
                    .is_nccl = random() % 2 == 0});
  }
  const auto run = run_of_work({.gpus = 2}, work);
  const Table map = answer(kUtilmap, run, for_programs());
  const Table sums = answer(kBreakdown, run);
  double compute_ns = 0;
  double both_ns = 0;
  std::int64_t wall_ns = 0;
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    const auto wall = static_cast<double>(whole_at(map, i, "wall_ns"));
    compute_ns += real_at(map, i, "compute") * wall;
    both_ns += real_at(map, i, "both") * wall;
    wall_ns += whole_at(map, i, "wall_ns");
  }
  EXPECT_EQ(wall_ns, whole_at(sums, 0, "wall_ns"));
  EXPECT_NEAR(compute_ns, static_cast<double>(whole_at(sums, 0, "compute_ns") + whole_at(sums, 0, "both_ns")), 1e-3);
  EXPECT_NEAR(both_ns, static_cast<double>(whole_at(sums, 0, "both_ns")), 1e-3);
}

TEST(Utilmap, SaysWhyItIsEmpty) {
  EXPECT_THAT(answer(kUtilmap, run_of_work({}, {})).empty_reason, HasSubstr("the run file has no kernels or copies"));
}

}  // namespace
}  // namespace jaxprof::study

// Each number of the golden run (golden_run.h), worked out by hand. All times in the comments in µs.
#include <gtest/gtest.h>

#include "merge/study/breakdown.h"
#include "merge/study/lateness.h"
#include "merge/study/spread.h"
#include "merge/study/stragglers.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/golden_run.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using namespace test;

constexpr std::int64_t kUs = 1'000;

class Golden : public testing::Test {
 protected:
  static Table golden(const Study& study, By grouping) {
    StudyOptions options;
    options.by = grouping;
    options.has_all_steps = true;
    options.is_for_programs = true;
    return answer(study, golden_run(), options);
  }
  // The row whose `column` says `text`.
  static std::size_t row_of(const Table& table, std::string_view column, std::string_view text) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (text_at(table, row, column) == text) return row;
    }
    ADD_FAILURE() << "no row with " << column << " " << text;
    return 0;
  }
  static std::size_t row_of_rank(const Table& table, std::int64_t rank) {
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (whole_at(table, row, "rank") == rank) return row;
    }
    ADD_FAILURE() << "no row of rank " << rank;
    return 0;
  }
};

// AllReduce, raw: 350, 250, 50 and 450, 450, 50; sorted 50 50 250 350 450 450, so the median is 300. The last arrivals
// are 600 and 1700, the ends 650 and 1750: net is 50 six times. Waits: 300 200 0 and 400 400 0, median 250. The fastest
// member takes 50: 1 000 000 B / 50 µs = 20 GB/s, times 2 (3 - 1) / 3.
TEST_F(Golden, SpreadOfTheAllReduces) {
  const Table table = golden(kSpread, By::kRun);
  const std::size_t row = row_of(table, "op", "AllReduce");
  EXPECT_EQ(whole_at(table, row, "n"), 6);
  EXPECT_DOUBLE_EQ(real_at(table, row, "p50_ns"), 300 * kUs);
  EXPECT_DOUBLE_EQ(real_at(table, row, "net_p50_ns"), 50 * kUs);
  EXPECT_DOUBLE_EQ(real_at(table, row, "wait_p50_ns"), 250 * kUs);
  EXPECT_DOUBLE_EQ(real_at(table, row, "mean_ns"), 1600.0 * kUs / 6);
  EXPECT_TRUE(is_missing_at(table, row, "p05_ns")) << "of fewer than 20";
  EXPECT_DOUBLE_EQ(real_at(table, row, "algbw_gb_per_s"), 20);
  EXPECT_DOUBLE_EQ(real_at(table, row, "busbw_gb_per_s"), 20 * 4.0 / 3);
}

// AllGather, raw: 200 150 150. Last arrival 750, end 900: net 150. 3 000 000 B / 150 µs = 20 GB/s, times (3 - 1) / 3.
TEST_F(Golden, SpreadOfTheAllGather) {
  const Table table = golden(kSpread, By::kRun);
  const std::size_t row = row_of(table, "op", "AllGather");
  EXPECT_EQ(whole_at(table, row, "n"), 3);
  EXPECT_DOUBLE_EQ(real_at(table, row, "p50_ns"), 150 * kUs);
  EXPECT_DOUBLE_EQ(real_at(table, row, "net_p50_ns"), 150 * kUs);
  EXPECT_DOUBLE_EQ(real_at(table, row, "wait_p50_ns"), 0);
  EXPECT_DOUBLE_EQ(real_at(table, row, "algbw_gb_per_s"), 20);
  EXPECT_DOUBLE_EQ(real_at(table, row, "busbw_gb_per_s"), 20 * 2.0 / 3);
}

// Behind the first arrival: rank 0: 0 0 0; rank 1: 100 50 0; rank 2: 300 50 400. Medians 0, 50, 300.
TEST_F(Golden, LatenessOfEachRank) {
  const Table table = golden(kLateness, By::kRank);
  ASSERT_EQ(table.rows.size(), 3U);
  const double late_ns[] = {0, 50 * kUs, 300 * kUs};
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_DOUBLE_EQ(real_at(table, row_of_rank(table, rank), "late_p50_ns"), late_ns[rank]) << rank;
  }
}

// First AllReduce: from 300 to 400 rank 0 waits for ranks 1 and 2 (100, half each), from 400 to 600 ranks 0 and 1 for
// rank 2 (400). AllGather: from 700 to 750 rank 0 waits for both others (50, half each). Second AllReduce: from 1300 to
// 1700 ranks 0 and 1 wait for rank 2 (800). Waits: rank 0 300 + 50 + 400, rank 1 200 + 400. Blame: rank 1 50 + 25, rank
// 2 50 + 400 + 25
// + 800. Both sums are 1350.
TEST_F(Golden, WaitAndBlameOfEachRank) {
  const Table table = golden(kStragglers, By::kRank);
  ASSERT_EQ(table.rows.size(), 3U);
  const std::int64_t wait_ns[] = {750 * kUs, 600 * kUs, 0};
  const std::int64_t blame_ns[] = {0, 75 * kUs, 1275 * kUs};
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const std::size_t row = row_of_rank(table, rank);
    EXPECT_EQ(whole_at(table, row, "wait_ns"), wait_ns[rank]) << rank;
    EXPECT_EQ(whole_at(table, row, "blame_ns"), blame_ns[rank]) << rank;
  }
}

// Of the 2000 of each rank. Rank 0: gemms 200 + 50 + 200, calls 350 + 200 + 450. Rank 1: gemms 300 + 100 + 250, of
// which 50 beside a call; calls 250 + 150 + 450, of which 400 + 400 alone. Rank 2: gemms 500 + 100 + 200, calls 50 +
// 150 + 50, copy 50.
TEST_F(Golden, BreakdownOfEachRank) {
  const Table table = golden(kBreakdown, By::kRank);
  ASSERT_EQ(table.rows.size(), 3U);
  struct Row {
    std::int64_t compute, both, exposed, copies, idle;
  };
  constexpr Row kWanted[] = {{450, 0, 1000, 0, 550}, {600, 50, 800, 0, 550}, {800, 0, 250, 50, 900}};
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    const std::size_t row = row_of_rank(table, rank);
    EXPECT_EQ(whole_at(table, row, "wall_ns"), 2000 * kUs);
    EXPECT_EQ(whole_at(table, row, "compute_ns"), kWanted[rank].compute * kUs) << rank;
    EXPECT_EQ(whole_at(table, row, "both_ns"), kWanted[rank].both * kUs) << rank;
    EXPECT_EQ(whole_at(table, row, "exposed_ns"), kWanted[rank].exposed * kUs) << rank;
    EXPECT_EQ(whole_at(table, row, "copies_ns"), kWanted[rank].copies * kUs) << rank;
    EXPECT_EQ(whole_at(table, row, "idle_ns"), kWanted[rank].idle * kUs) << rank;
  }
}

}  // namespace
}  // namespace jaxprof::study

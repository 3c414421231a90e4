// A job of four ranks whose collectives are known to the nanosecond, replayed.
#include "merge/study/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "merge/study/member_lateness.h"
#include "merge/study/whatif.h"
#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/working_ranks.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kRanks = 4;
using test::kTransferNs;

struct Replayed {
  explicit Replayed(const runfile::RunTables& run)
      : scope(run, {}),
        arrivals(find_arrivals(run, scope, {})),
        replay(run, scope, arrivals, judged_instances(arrivals).is_counted) {}
  std::int64_t time(std::vector<std::uint8_t> is_alike, bool has_alike_transfers = false) const {
    return replay.run({std::move(is_alike), has_alike_transfers});
  }
  Scope scope;
  Arrivals arrivals;
  Replay replay;
};

TEST(Replay, ReproducesWhatWasRecorded) {
  const Replayed job_of_four(
      test::run_of_working_ranks({{100, 100, 100, 160}, {100, 100, 130, 100}, {100, 100, 100, 100}}));
  EXPECT_EQ(job_of_four.replay.n_instances(), 3U);
  EXPECT_EQ(job_of_four.replay.measured_ns(), 160 + 130 + 100 + 3 * kTransferNs);
  EXPECT_EQ(job_of_four.time({0, 0, 0, 0}), job_of_four.replay.measured_ns());
}

TEST(Replay, TakesARanksLatenessAway) {
  const Replayed job_of_four(test::run_of_working_ranks({{100, 100, 100, 160}, {100, 100, 100, 160}}));
  // Rank 3 takes the mean, 115; it is still the last.
  EXPECT_EQ(job_of_four.time({0, 0, 0, 1}), 2 * (115 + kTransferNs));
  EXPECT_EQ(job_of_four.time({1, 1, 1, 1}), 2 * (115 + kTransferNs));
  EXPECT_EQ(job_of_four.time({1, 1, 1, 0}), 2 * (160 + kTransferNs));
  EXPECT_THAT(job_of_four.replay.excess_ns(), testing::ElementsAre(0, 0, 0, 120));
}

TEST(Replay, TakesASlowTransferAway) {
  auto run = test::run_of_working_ranks({{100, 100}, {100, 100}, {100, 100}});
  for (const std::size_t row : {std::size_t{2}, std::size_t{5}}) run.nccl.gpu_dur_ns[row] += 900;  // the third meeting
  run.collectives.last_end_ns[2] += 900;
  const Replayed job_of_two(run);
  EXPECT_EQ(job_of_two.replay.measured_ns(), 3 * 150 + 900);
  EXPECT_EQ(job_of_two.time({0, 0}, true), 3 * 150);
}

// A member's record of the third one is lost. What the second one gains is not lost with it.
TEST(Replay, GoesOnBehindACollectiveThatIsNotReplayed) {
  const std::vector<std::int64_t> even = {100, 100, 100, 100};
  const std::vector<std::int64_t> late = {100, 100, 100, 160};
  auto run = test::run_of_working_ranks({even, late, even, late});
  run.steps = {};
  const Scope scope(run, {});
  const Arrivals arrivals = find_arrivals(run, scope, {});
  const Replay replay(run, scope, arrivals, {1, 1, 0, 1});
  EXPECT_EQ(replay.run({{0, 0, 0, 0}, false}), replay.measured_ns());
  EXPECT_EQ(replay.run({{1, 1, 1, 1}, false}), replay.measured_ns() - 2 * 45);
}

// Property: whatever the times, the replay of the recorded ones is the record, and no alternative in which one rank is
// like the mean of all takes longer than the record by more than what the others gain on it.
TEST(Replay, ReproducesRandomJobs) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::int64_t>> own_ns(1 + random() % 12, std::vector<std::int64_t>(kRanks));
    for (auto& step : own_ns) {
      for (std::int64_t& own : step) own = static_cast<std::int64_t>(100 + random() % 1000);
    }
    const Replayed replayed(test::run_of_working_ranks(own_ns));
    EXPECT_EQ(replayed.time({0, 0, 0, 0}), replayed.replay.measured_ns());
    EXPECT_LE(replayed.time({1, 1, 1, 1}), replayed.replay.measured_ns());
  }
}

TEST(WhatIf, NamesTheRankThatIsWorthMending) {
  const std::vector<std::int64_t> own = {1000, 1000, 1000, 1400};
  const Table table = whatif(test::run_of_working_ranks({own, own, own, own, own, own}), {});
  EXPECT_THAT(table.verdict, HasSubstr("rank 3 like the others"));
  EXPECT_EQ(table.finding, Finding::kWarning);
  ASSERT_FALSE(table.rows.empty());
  EXPECT_THAT(table.notes.front(), HasSubstr("0.00 % apart"));
}

TEST(WhatIf, FindsNothingInAnEvenJob) {
  const std::vector<std::int64_t> own = {1000, 1000, 1000, 1000};
  const Table table = whatif(test::run_of_working_ranks({own, own, own}), {});
  EXPECT_EQ(table.finding, Finding::kNone);
  EXPECT_THAT(table.verdict, HasSubstr("S = 1.000"));
  EXPECT_EQ(table.verdict.find("rank"), table.verdict.find("ranks alike"));
}

TEST(WhatIf, SaysWhyItIsEmpty) {
  const Table table = whatif(test::run_with_steps({{{0, 0, 90}}}), {});
  EXPECT_TRUE(table.rows.empty());
  EXPECT_THAT(table.empty_reason, HasSubstr("no NCCL calls"));
}

}  // namespace
}  // namespace jaxprof::study

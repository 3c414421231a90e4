// Who is at fault, and what cause is named.
#include "merge/study/straggler_level.h"

#include <gtest/gtest.h>

#include "merge/study/straggler_verdict.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using test::MeetingPlan;

constexpr std::int64_t kMs = 1'000'000;

// Three nodes of two processes with a GPU each.
class FindCulprit : public testing::Test {
 protected:
  Culprit find(const std::vector<std::int64_t>& fault_ns, const std::vector<CauseSplit>& excess) const {
    return find_culprit(lanes_, fault_ns, excess);
  }

 private:
  const MeetingPlan plan_{.processes = 6, .processes_of_node = 2, .has_devices = true, .comms = {{0, 1, 2, 3, 4, 5}}};
  const runfile::RunTables run_ =
      test::run_of_meetings(plan_, {{.start_ns = {1, 1, 1, 1, 1, 1}, .end_ns = {2, 2, 2, 2, 2, 2}}});
  const StudyOptions options_{};
  const Arrivals arrivals_ = find_arrivals(run_, Scope(run_, options_), options_);
  const Subjects lanes_{run_, arrivals_, By::kGpu};
};

std::vector<CauseSplit> computes(const std::vector<std::int64_t>& compute_ns) {
  std::vector<CauseSplit> splits;
  for (const std::int64_t ns : compute_ns) splits.push_back({.compute_ns = ns});
  return splits;
}

TEST_F(FindCulprit, NamesTheGpuWhoseKernelsAreSlow) {
  const Culprit culprit = find({0, 1000, 30 * kMs, 0, 500, 0}, computes({0, 10, 5 * kMs, -20, 0, 0}));
  EXPECT_EQ(culprit.level, Level::kGpu);
  EXPECT_EQ(culprit.lanes, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(culprit.cause.cause, Cause::kCompute);
}

TEST_F(FindCulprit, NamesTheRankWhoseHostIsLate) {
  std::vector<CauseSplit> excess(6);
  excess[4].host_ns = 2 * kMs;
  const Culprit culprit = find({0, 0, 0, 0, 10 * kMs, 0}, excess);
  EXPECT_EQ(culprit.level, Level::kRank);
  EXPECT_EQ(culprit.cause.cause, Cause::kHost);
}

TEST_F(FindCulprit, NamesTheNodeOfWhichAllGpusAreSlow) {
  const Culprit culprit =
      find({0, 0, 9 * kMs, 12 * kMs, 0, 10}, computes({0, 20'000, 5 * kMs, 5 * kMs + 50'000, -10'000, 0}));
  EXPECT_EQ(culprit.level, Level::kNode);
  EXPECT_EQ(culprit.lanes, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(culprit.fault_ns, 21 * kMs);
}

TEST_F(FindCulprit, DoesNotBlameANodeForOneOfItsGpus) {
  EXPECT_EQ(find({0, 0, 9 * kMs, 1 * kMs, 0, 0}, computes({0, 0, 5 * kMs, 300'000, 0, 0})).level, Level::kGpu);
}

TEST_F(FindCulprit, IsNobodyWithoutFault) {
  EXPECT_EQ(find({0, 0, 0, 0, 0, 0}, computes({0, 0, 0, 0, 0, 0})).level, Level::kNone);
}

TEST(NameCause, NeedsMostOfTheExcess) {
  EXPECT_EQ(name_cause({.compute_ns = 85, .host_ns = 15}).cause, Cause::kCompute);
  EXPECT_EQ(name_cause({.compute_ns = 50, .host_ns = 50}).cause, Cause::kUnattributed);
  EXPECT_EQ(name_cause({.copy_ns = 90, .rest_ns = 10}).cause, Cause::kCopy);
  EXPECT_EQ(name_cause({.rest_ns = 100}).cause, Cause::kUnattributed);
  EXPECT_EQ(name_cause({.compute_ns = -100}).cause, Cause::kNone);
  EXPECT_DOUBLE_EQ(name_cause({.compute_ns = 120, .host_ns = -20}).share, 1);
}

TEST(ExcessOverPeers, ComparesLanesWithAsManyOperations) {
  OwnTime own;
  own.n_steps = 1;
  own.n_lanes = 5;
  own.n_calls = {4, 4, 4, 2, 2};
  own.compute_ns = {10, 10, 40, 100, 106};
  for (auto* column : {&own.host_ns, &own.copy_ns, &own.rest_ns, &own.idle_ns, &own.enqueue_ns}) column->assign(5, 0);
  const auto excess = excess_over_peers(own);
  EXPECT_EQ(excess[2].compute_ns, 30);
  EXPECT_EQ(excess[3].compute_ns, -3);
  EXPECT_EQ(excess[4].compute_ns, 3);
}

TEST(ExcessOverPeers, TakesLateCallsForTheHostsWhereNoLaunchIsTold) {
  OwnTime own;
  own.n_steps = 1;
  own.n_lanes = 3;
  own.n_calls = {1, 1, 1};
  own.compute_ns = {0, 0, 0};
  own.host_ns = {0, 0, 0};
  own.copy_ns = {0, 0, 0};
  own.rest_ns = {10, 10, 110};
  own.idle_ns = {10, 10, 110};
  own.enqueue_ns = {5, 5, 85};
  const auto excess = excess_over_peers(own);
  EXPECT_EQ(excess[2].host_ns, 80);
  EXPECT_EQ(excess[2].rest_ns, 20);
  EXPECT_EQ(excess[2].sum_ns(), 100);
}

TEST(SignTest, IsThatOfTheBinomial) {
  EXPECT_DOUBLE_EQ(sign_test_p(0, 0), 1);
  EXPECT_NEAR(sign_test_p(7, 7), 1.0 / 128, 1e-12);
  EXPECT_NEAR(sign_test_p(5, 10), 0.623046875, 1e-9);
  EXPECT_LT(sign_test_p(2'000, 2'000), 1e-100);
}

}  // namespace
}  // namespace jaxprof::study

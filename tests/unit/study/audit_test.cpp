// Nodes over many runs: a slow one is named, chance names nobody.
#include "merge/study/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr std::int64_t kFirstNs = 1'700'000'000'000'000'000;  // 2023-11-14

struct Slow {
  int node = -1;
  double by = 0;
  int since = 0;  // run
};

std::vector<RunSheet> cluster(int n_runs, int n_nodes, const Slow& slow, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<RunSheet> runs;
  for (int run = 0; run < n_runs; ++run) {
    RunSheet sheet{"r" + std::to_string(run), std::to_string(run), kFirstNs + run * kDayNs, {}};
    for (int node = 0; node < n_nodes; ++node) {
      NodeSheet of_node;
      of_node.host = "n" + std::to_string(node);
      of_node.n_processes = 8;
      const double slower = node == slow.node && run >= slow.since ? slow.by : 0;
      of_node.gpu_score = 1 - slower + noise(random);
      of_node.own_score = 1 - slower / 2 + noise(random);
      sheet.nodes.push_back(of_node);
    }
    runs.push_back(sheet);
  }
  return runs;
}

TEST(Audit, NamesTheSlowNodeWithItsEvidence) {
  const Table table = audit_sheets(cluster(12, 6, {3, 0.2, 0}, 1), By::kNode);
  EXPECT_THAT(table.verdict, HasSubstr("slow: n3 (gpu 0.8"));
  EXPECT_THAT(table.verdict, HasSubstr("slower in 12 of 12 runs, p = 0.00049"));
  EXPECT_EQ(table.finding, Finding::kCritical);
  ASSERT_EQ(table.rows.size(), 6U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "n3");
  EXPECT_EQ(std::get<std::string>(table.rows[0][2]), "gpu");
}

TEST(Audit, SaysSinceWhen) {
  const Table table = audit_sheets(cluster(20, 6, {2, 0.3, 5}, 2), By::kNode);
  EXPECT_THAT(table.verdict, HasSubstr("n2 (gpu"));
  EXPECT_THAT(table.verdict, HasSubstr("since 2023-11-19"));
}

TEST(Audit, NamesNobodyByChance) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_EQ(audit_sheets(cluster(12, 16, {}, seed), By::kNode).finding, Finding::kNone) << seed;
  }
}

TEST(Audit, NeedsEightRunsAndSaysSo) {
  const Table table = audit_sheets(cluster(7, 4, {1, 0.4, 0}, 3), By::kNode);
  EXPECT_EQ(table.finding, Finding::kNone);
  EXPECT_THAT(table.verdict, HasSubstr("it takes 8 runs to name one"));
}

TEST(Audit, TakesASmallEffectForNone) {
  EXPECT_EQ(audit_sheets(cluster(40, 6, {1, 0.04, 0}, 4), By::kNode).finding, Finding::kNone);
}

TEST(Audit, OrdersRunsByTimeWhateverTheOrderOfFiles) {
  auto sheets = cluster(12, 6, {3, 0.2, 0}, 1);
  const std::string in_order = audit_sheets(sheets, By::kNode).verdict;
  std::reverse(sheets.begin(), sheets.end());
  EXPECT_EQ(audit_sheets(sheets, By::kNode).verdict, in_order);
  EXPECT_EQ(std::get<std::string>(audit_sheets(sheets, By::kRun).rows[0][0]), "r0");
}

TEST(Audit, LeavesWhatIsNotKnownMissing) {
  RunSheet sheet{"r",
                 "1",
                 kFirstNs,
                 {NodeSheet{.host = "n",
                            .n_processes = 1,
                            .gpu_score = {},
                            .nic_score = {},
                            .own_score = {},
                            .last_share = {},
                            .blame_share = {},
                            .clock_bound_ns = {},
                            .n_events = 0,
                            .n_dropped = 3}}};
  const Table table = audit_sheets({sheet}, By::kNode);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Missing>(table.rows[0][3]));
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0].back()), 3);
}

}  // namespace
}  // namespace jaxprof::study

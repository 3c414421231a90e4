// What the merge makes of trainings: rows, arrivals and samples, against the course.
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "tests/synthetic/scenario.h"
#include "tests/unit/synthetic/merged_training.h"

namespace jaxprof::test {
namespace {

MergedTraining merged(const synthetic::RunPlan& plan) {
  auto run = merge_training(plan);
  EXPECT_TRUE(run) << run.error().message;
  return std::move(*run);
}

synthetic::RunPlan plan_of(const char* scenario, std::uint64_t seed) {
  return *synthetic::scenario_plan(scenario, seed);
}

TEST(MergedTraining, HasWaitsAndBlameOfAllCollectives) {
  synthetic::RunPlan plan = plan_of("host", 1);
  plan.has_clocks = false;  // they are right
  const MergedTraining run = merged(plan);
  // By instance, from first to last arrival of each member.
  double wait_ns = 0;
  const auto& collectives = run.tables.collectives;
  for (std::size_t i = 0; i < runfile::n_rows(collectives); ++i) {
    EXPECT_EQ(collectives.n_seen[i], plan.processes);
    for (std::uint64_t at = run.tables.collective_member_offset[i]; at < run.tables.collective_member_offset[i + 1];
         ++at) {
      const std::uint64_t row = run.tables.collective_members.event_row[at];
      wait_ns += static_cast<double>(collectives.last_start_ns[i] - run.tables.nccl.gpu_start_ns[row]);
    }
  }
  double truth_ns = 0;
  for (const double ns : run.truth.wait_ns) truth_ns += ns;
  EXPECT_NEAR(wait_ns, truth_ns, 1e-4 * truth_ns);
}

TEST(MergedTraining, IsWithoutAFinding) {
  for (const char* scenario : {"clean", "nic", "sub-comms"}) {
    const MergedTraining run = merged(plan_of(scenario, 2));
    for (std::size_t i = 0; i < runfile::n_rows(run.tables.diagnostics); ++i) {
      EXPECT_EQ(run.tables.diagnostics.severity[i], runfile::Severity::kInfo)
          << scenario << ": " << run.tables.strings.text(run.tables.diagnostics.text[i]);
    }
  }
}

TEST(MergedTraining, LacksRanksThatWereNotSelected) {
  const MergedTraining run = merged(plan_of("one-traced", 2));
  EXPECT_EQ(runfile::n_rows(run.tables.processes), 1U);
  EXPECT_EQ(runfile::n_rows(run.tables.nodes), 1U);
}

}  // namespace
}  // namespace jaxprof::test

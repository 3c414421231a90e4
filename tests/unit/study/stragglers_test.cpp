// The whole answer: who, why, how sure, and what is said where there is nobody.
#include "merge/study/stragglers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "merge/runfile/table_rows.h"
#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using test::Meeting;
using test::MeetingPlan;
using testing::Contains;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kStepNs = 10 * kMs;

// Four ranks on two nodes; rank late_of(step) comes `late_ns` after the others to the one collective of each step.
template <typename LateOf>
runfile::RunTables run_of_steps(std::size_t n_steps, std::int64_t late_ns, LateOf late_of, std::uint16_t flags = 16) {
  const MeetingPlan plan{.processes = 4, .processes_of_node = 2, .has_devices = true, .comms = {{0, 1, 2, 3}}};
  std::vector<Meeting> meetings;
  for (std::size_t k = 0; k < n_steps; ++k) {
    const std::int64_t t_ns = static_cast<std::int64_t>(k + 1) * kStepNs;
    Meeting meeting{.start_ns = std::vector<std::int64_t>(4, t_ns), .end_ns = {}, .flags = flags, .bound_ns = 5'000};
    meeting.start_ns[late_of(k)] += late_ns;
    meeting.end_ns.assign(4, t_ns + late_ns + 500'000);
    meetings.push_back(std::move(meeting));
  }
  auto run = test::run_of_meetings(plan, meetings);
  for (std::uint32_t p = 0; p < 4; ++p) {
    std::vector<test::MarkedStep> steps;
    for (std::size_t k = 0; k < n_steps; ++k) {
      const auto number = static_cast<std::int64_t>(k);
      steps.push_back({number, (number + 1) * kStepNs - kMs, kStepNs - 1});
    }
    test::add_steps(run, p, steps);
  }
  return run;
}

Table answer(const runfile::RunTables& run, By by = By::kRank, const char* ranks = "") {
  StudyOptions options;
  options.by = by;
  options.ranks = ranks;
  auto table = stragglers_in_memory(run, options);
  return table ? std::move(*table) : Table{};
}

Cell cell(const Table& table, std::size_t row, const std::string& column) {
  const auto is_named = [&column](const Column& c) { return c.name == column; };
  const auto at = std::find_if(table.columns.begin(), table.columns.end(), is_named);
  return table.rows.at(row).at(static_cast<std::size_t>(at - table.columns.begin()));
}

std::size_t always_2(std::size_t) {
  return 2;
}

TEST(Stragglers, NameTheRankThatIsAlwaysLate) {
  const Table table = answer(run_of_steps(20, 4 * kMs, always_2));
  EXPECT_THAT(table.verdict, HasSubstr("rank 2 (node n1, local rank 0) holds the job back"));
  EXPECT_THAT(table.verdict, HasSubstr("most to blame in 20 of 20 steps"));
  EXPECT_EQ(table.finding, Finding::kCritical);
  EXPECT_EQ(cell(table, 0, "rank"), Cell{std::int64_t{2}});
  EXPECT_EQ(cell(table, 0, "blame_ns"), Cell{20 * 3 * 4 * kMs});
  EXPECT_EQ(cell(table, 0, "last_share"), Cell{1.0});
  EXPECT_EQ(cell(table, 0, "certain"), Cell{std::string("20 of 20")});
  EXPECT_EQ(cell(table, 0, "score"), Cell{100.0});
}

TEST(Stragglers, SayThatLatenessMoves) {
  const Table table = answer(run_of_steps(20, 4 * kMs, [](std::size_t k) { return k % 4; }));
  EXPECT_THAT(table.verdict, HasSubstr("lateness moves: 20 of 20 steps were held back by 4 different ones"));
  EXPECT_EQ(table.finding, Finding::kCritical);
}

TEST(Stragglers, TellOfAFewBadSteps) {
  // Of 20 steps three are bad, in which rank 1 is late.
  auto run = run_of_steps(20, 4 * kMs, [](std::size_t) { return 1U; });
  for (std::size_t row = 0; row < run.nccl.gpu_start_ns.size(); ++row) {
    const std::uint64_t instance = run.nccl.instance[row];
    if (instance >= 8 && instance <= 10) continue;
    run.nccl.gpu_start_ns[row] = static_cast<std::int64_t>(instance + 1) * kStepNs;
  }
  const Table table = answer(run);
  EXPECT_THAT(table.verdict, HasSubstr("rank 1 (node n0, local rank 1) held back 3 of 20 steps (steps 8-10)"));
  const Table by_step = answer(run, By::kStep);
  ASSERT_EQ(by_step.rows.size(), 20U);
  EXPECT_EQ(cell(by_step, 8, "rank"), Cell{std::int64_t{1}});
  EXPECT_EQ(cell(by_step, 7, "level"), Cell{Missing{}});
}

TEST(Stragglers, NameNobodyWithoutCertainty) {
  // Resolved, that is by more than three sigma, but not by more than clocks can be wrong.
  const Table table = answer(run_of_steps(20, 4 * kMs, always_2, 0));
  EXPECT_THAT(table.verdict, HasSubstr("no straggler"));
  EXPECT_THAT(table.verdict, HasSubstr("not certain"));
  EXPECT_EQ(table.finding, Finding::kNone);
}

TEST(Stragglers, SayThatAllIsUnresolved) {
  const Table table = answer(run_of_steps(20, 4'000, always_2, runfile::kInstanceUnresolved));
  EXPECT_THAT(table.verdict, HasSubstr("unresolved: in all 20 instances"));
  EXPECT_EQ(table.finding, Finding::kNone);
  EXPECT_TRUE(table.rows.empty());
  EXPECT_FALSE(table.empty_reason.empty());
}

TEST(Stragglers, SayNothingOfLittle) {
  const Table table = answer(run_of_steps(20, 100'000, always_2));
  EXPECT_THAT(table.verdict, HasSubstr("no straggler: 0.8 %"));
  EXPECT_EQ(cell(table, 0, "level"), Cell{Missing{}});
}

TEST(Stragglers, HaveNoCauseWithoutKernels) {
  const Table table = answer(run_of_steps(20, 4 * kMs, always_2));
  EXPECT_THAT(table.verdict, HasSubstr("cause unknown"));
  EXPECT_THAT(table.notes, Contains(HasSubstr("causes are empty")));
  EXPECT_EQ(cell(table, 0, "cause"), Cell{Missing{}});
}

// A kernel of `length_ns` that ends where the rank's collective begins, launched long before.
void add_kernel(runfile::RunTables& run, std::int64_t end_ns, std::int64_t length_ns, std::int32_t device) {
  const std::size_t row = runfile::add_row(run.kernels);
  run.kernels.start_ns[row] = end_ns - length_ns;
  run.kernels.dur_ns[row] = length_ns;
  run.kernels.device[row] = device;
  const std::size_t api = runfile::add_row(run.api);
  run.api.start_ns[api] = end_ns - length_ns - 5 * kMs;
  run.kernels.api[row] = api;
}

TEST(Stragglers, NameTheGpuWhoseKernelsAreSlow) {
  auto run = run_of_steps(20, 4 * kMs, always_2);
  run.kernel_process_offset = {0};
  run.api_process_offset = {0};
  for (std::int32_t p = 0; p < 4; ++p) {
    for (std::int64_t k = 0; k < 20; ++k) {
      const std::int64_t late_ns = p == 2 ? 4 * kMs : 0;
      add_kernel(run, (k + 1) * kStepNs + late_ns - 1'000, 2 * kMs + late_ns, p);
    }
    run.kernel_process_offset.push_back(run.kernels.start_ns.size());
    run.api_process_offset.push_back(run.api.start_ns.size());
  }
  const Table table = answer(run);
  EXPECT_THAT(table.verdict, HasSubstr("rank 2 (node n1, GPU 0, local rank 0) holds the job back"));
  EXPECT_THAT(table.verdict, HasSubstr("cause: compute (slow kernels), 100 % of its lateness"));
  EXPECT_EQ(cell(table, 0, "cause"), Cell{std::string("compute")});
  EXPECT_EQ(cell(table, 0, "level"), Cell{std::string("gpu")});
}

TEST(Stragglers, SumUpWhateverRowsStandFor) {
  const auto run = run_of_steps(20, 4 * kMs, always_2);
  EXPECT_EQ(answer(run, By::kGpu).rows.size(), 4U);
  EXPECT_EQ(answer(run, By::kNode).rows.size(), 2U);
  EXPECT_EQ(answer(run, By::kComm).rows.size(), 1U);
  EXPECT_EQ(answer(run, By::kMember).rows.size(), 4U);
  EXPECT_EQ(answer(run, By::kRank, "1,3").rows.size(), 2U);
  EXPECT_THAT(answer(run, By::kRank, "77").empty_reason, HasSubstr("--ranks 77"));
  EXPECT_THAT(answer(test::run_of_meetings({.processes = 1, .comms = {{0}}}, {})).empty_reason,
              HasSubstr("no NCCL calls"));
}

}  // namespace
}  // namespace jaxprof::study

// Answers computed by hand.
#include "merge/study/spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "merge/study/bandwidth.h"
#include "merge/study/spread_histogram.h"
#include "tests/unit/study/calls.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using runfile::Coll;
using test::run_of;
using testing::HasSubstr;

// The cell of `row` in the column `name`.
Cell at(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row)[i];
  }
  ADD_FAILURE() << "no column " << name;
  return Missing{};
}

std::int64_t whole(const Table& table, std::size_t row, std::string_view name) {
  return std::get<std::int64_t>(at(table, row, name));
}
double real(const Table& table, std::size_t row, std::string_view name) {
  return std::get<double>(at(table, row, name));
}
std::string text(const Table& table, std::size_t row, std::string_view name) {
  return std::get<std::string>(at(table, row, name));
}
bool is_missing(const Table& table, std::size_t row, std::string_view name) {
  return std::holds_alternative<Missing>(at(table, row, name));
}

TEST(Spread, MakesOneRowAKindAndCountsEveryRanksCalls) {
  const Table table = spread(run_of({{{.host_ns = 10}, {.size_bytes = 2048, .host_ns = 50}, {.host_ns = 20}},
                                     {{.host_ns = 30}, {.size_bytes = 2048, .host_ns = 70}, {.host_ns = 40}}}),
                             {});
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text(table, 0, "op"), "AllReduce");
  EXPECT_EQ(text(table, 0, "dtype"), "f32");
  EXPECT_EQ(text(table, 0, "algo"), "missing");
  EXPECT_EQ(whole(table, 0, "ranks"), 2);
  EXPECT_EQ(whole(table, 0, "size_bytes"), 1024);
  EXPECT_EQ(whole(table, 0, "count"), 4);
  EXPECT_EQ(whole(table, 0, "min_ns"), 10);
  EXPECT_DOUBLE_EQ(real(table, 0, "p25_ns"), 17.5);
  EXPECT_DOUBLE_EQ(real(table, 0, "p50_ns"), 25);
  EXPECT_DOUBLE_EQ(real(table, 0, "mean_ns"), 25);
  EXPECT_EQ(whole(table, 0, "max_ns"), 40);
  EXPECT_EQ(whole(table, 1, "size_bytes"), 2048);
  EXPECT_EQ(whole(table, 1, "count"), 2);
  EXPECT_DOUBLE_EQ(real(table, 1, "p50_ns"), 60);
}

TEST(Spread, LeavesBandwidthEmptyWithTheReasonWithoutGpuTimes) {
  const Table table = spread(run_of({{{}, {}}, {{}, {}}}), {});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(text(table, 0, "time"), "host");
  EXPECT_TRUE(is_missing(table, 0, "algbw_gb_per_s"));
  EXPECT_TRUE(is_missing(table, 0, "busbw_gb_per_s"));
  EXPECT_EQ(table.heading, "host time: enqueue, not transfer");
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("algbw and busbw are empty: bandwidth needs GPU times")));
}

TEST(Spread, SaysThatNobodyAskedForCalls) {
  runfile::RunTables run = run_of({{}});
  EXPECT_THAT(spread(run, {}).empty_reason, HasSubstr("neither NCCL's profiler plugin nor"));
  run.attributes.trace = "cuda,nvtx | nvtx";
  EXPECT_EQ(spread(run, {}).empty_reason,
            "the run file has no NCCL calls: -t cuda,nvtx | nvtx did not ask for them; add nccl to it");
  run.attributes.trace = "cuda,nvtx | nvtx,nccl";
  EXPECT_THAT(spread(run, {}).empty_reason, HasSubstr("neither NCCL's profiler plugin nor"));
}

TEST(Spread, RefusesRanksOfWhichTheRunHasNone) {
  StudyOptions options;
  options.ranks = "7,9-12";
  const auto status = check_ranks(run_of({{{}}, {{}}}), options);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUsage);
  EXPECT_EQ(status.error().message, "--ranks 7,9-12: the run file has none of these; it has ranks 0-1");
  options.ranks = "1-1023";
  EXPECT_TRUE(check_ranks(run_of({{{}}, {{}}}), options));
}

TEST(Spread, TakesGpuTimesAndTheFastestMembersBandwidth) {
  // instance 0: fastest 500 ns, instance 1: fastest 250 ns; median 375 ns; S = 3000 B, n = 2: f = 1
  const Table table = spread(run_of({{{.size_bytes = 3000, .gpu_ns = 500}, {.size_bytes = 3000, .gpu_ns = 900}},
                                     {{.size_bytes = 3000, .gpu_ns = 800}, {.size_bytes = 3000, .gpu_ns = 250}}}),
                             {});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(text(table, 0, "time"), "gpu");
  EXPECT_EQ(whole(table, 0, "min_ns"), 250);
  EXPECT_DOUBLE_EQ(real(table, 0, "p50_ns"), 650);
  EXPECT_DOUBLE_EQ(real(table, 0, "algbw_gb_per_s"), 8);
  EXPECT_DOUBLE_EQ(real(table, 0, "busbw_gb_per_s"), 8);
  EXPECT_THAT(table.heading, HasSubstr("GPU time"));
}

// Rank 1 arrives 300 ns after rank 0, both end at 1000: rank 0 waits 300 of its 1000 ns.
TEST(Spread, TellsWaitingFromTransfer) {
  runfile::RunTables run = run_of({{{.gpu_ns = 1000, .gpu_start_ns = 0}}, {{.gpu_ns = 700, .gpu_start_ns = 300}}});
  Table table = spread(run, {});
  EXPECT_DOUBLE_EQ(real(table, 0, "wait_p50_ns"), 150) << "of 300 and 0";
  EXPECT_DOUBLE_EQ(real(table, 0, "xfer_p50_ns"), 700);
  EXPECT_EQ(text(table, 0, "source"), "cupti");
  run.collectives.flags[0] = runfile::kInstanceUnresolved;
  table = spread(run, {});
  EXPECT_TRUE(is_missing(table, 0, "wait_p50_ns")) << "the clocks do not tell";
  EXPECT_FALSE(is_missing(table, 0, "algbw_gb_per_s")) << "which needs no clock";
}

TEST(Spread, ACaptureIsACallOnlyWhereNoReplayWasSeen) {
  const Table captured = spread(run_of({{{.host_ns = 10, .is_captured = true}}}), {});
  EXPECT_EQ(whole(captured, 0, "count"), 1);
  EXPECT_EQ(text(captured, 0, "source"), "enqueue");
  const Table replayed =
      spread(run_of({{{.host_ns = 10, .is_captured = true},
                      {.host_ns = 5, .gpu_ns = 100, .gpu_start_ns = 50, .replay = 0, .is_captured = true},
                      {.host_ns = 5, .gpu_ns = 300, .gpu_start_ns = 450, .replay = 1, .is_captured = true}}}),
             {});
  EXPECT_EQ(whole(replayed, 0, "count"), 2);
  EXPECT_EQ(whole(replayed, 0, "n"), 2);
  EXPECT_DOUBLE_EQ(real(replayed, 0, "p50_ns"), 200);
}

// A Send mostly shares its kernel, and its time holds waiting for the peer.
TEST(Spread, SaysThatSendAndRecvHaveNoBandwidth) {
  runfile::RunTables run = run_of({{{.coll = Coll::kSend, .gpu_ns = 100}}, {{.coll = Coll::kSend, .gpu_ns = 100}}});
  run.nccl.instance = {runfile::kNoRow, runfile::kNoRow};
  const Table table = spread(run, {});
  EXPECT_TRUE(is_missing(table, 0, "algbw_gb_per_s"));
  EXPECT_TRUE(is_missing(table, 0, "busbw_gb_per_s"));
  EXPECT_THAT(kSpread.definitions, HasSubstr("Send and Recv have no bandwidth"));
}

// nccl-tests, doc/PERFORMANCE.md: S and the factor of each operation, on a call of 1 MiB a rank that takes 100 us on 4
// ranks.
TEST(Spread, BandwidthsAreThoseOfNcclTests) {
  struct Golden {
    Coll coll;
    std::uint64_t size_bytes;
    double algbw;
    double busbw;
  };
  constexpr std::uint64_t kMiB = 1 << 20;
  for (const Golden& golden :
       {Golden{Coll::kAllReduce, kMiB, 10.48576, 15.72864}, Golden{Coll::kAllGather, 4 * kMiB, 41.94304, 31.45728},
        Golden{Coll::kReduceScatter, 4 * kMiB, 41.94304, 31.45728},
        Golden{Coll::kAllToAll, 4 * kMiB, 41.94304, 31.45728}, Golden{Coll::kBroadcast, kMiB, 10.48576, 10.48576},
        Golden{Coll::kReduce, kMiB, 10.48576, 10.48576}}) {
    const test::Call slow{.coll = golden.coll, .size_bytes = golden.size_bytes, .gpu_ns = 130'000};
    const test::Call fast{.coll = golden.coll, .size_bytes = golden.size_bytes, .gpu_ns = 100'000};
    const Table table = spread(run_of({{slow}, {fast}, {slow}, {slow}}), {});
    EXPECT_NEAR(real(table, 0, "algbw_gb_per_s"), golden.algbw, 1e-9) << runfile::word(golden.coll);
    EXPECT_NEAR(real(table, 0, "busbw_gb_per_s"), golden.busbw, 1e-9) << runfile::word(golden.coll);
  }
}

TEST(Spread, KeepsInstancesThatLackAMemberOutOfTheBandwidth) {
  const runfile::RunTables run =
      run_of({{{.gpu_ns = 100}, {.gpu_ns = 200}, {.gpu_ns = 400}}, {{.gpu_ns = 300}, {.gpu_ns = 200}, {.gpu_ns = -1}}});
  EXPECT_DOUBLE_EQ(real(spread(run, {}), 0, "fast_p50_ns"), 150);
}

// Both calls of rank 0 and of rank 1 ran in one kernel each, which moved 1024 + 2048 bytes in 300 ns.
TEST(Spread, GivesCallsOfOneKernelRowsOfTheirOwnWithTheBytesOfAll) {
  runfile::RunTables run = run_of({{{.gpu_ns = 300}, {.size_bytes = 2048, .gpu_ns = 300}, {.gpu_ns = 50}},
                                   {{.gpu_ns = 300}, {.size_bytes = 2048, .gpu_ns = 300}, {.gpu_ns = 60}}});
  run.collectives.flags[0] = run.collectives.flags[1] = runfile::kInstanceGrouped;
  for (const auto& [call, kernel] : {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}}) {
    const std::size_t row = runfile::add_row(run.nccl_work);
    run.nccl_work.call[row] = static_cast<std::uint64_t>(call);
    run.nccl_work.kernel[row] = static_cast<std::uint64_t>(kernel);
  }
  const Table table = spread(run, {});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(whole(table, 0, "grouped"), 0);
  EXPECT_EQ(whole(table, 0, "count"), 2);
  EXPECT_DOUBLE_EQ(real(table, 0, "algbw_gb_per_s"), 1024.0 / 50);
  EXPECT_EQ(whole(table, 1, "grouped"), 1);
  EXPECT_DOUBLE_EQ(real(table, 1, "algbw_gb_per_s"), 3072.0 / 300);
  EXPECT_DOUBLE_EQ(real(table, 2, "algbw_gb_per_s"), 3072.0 / 300);
}

// Rank 1 arrives 300 ns after rank 0; both end at 1000.
TEST(Spread, ShowsRawNetAndWaitSideBySide) {
  const runfile::RunTables run =
      run_of({{{.gpu_ns = 1000, .gpu_start_ns = 0}}, {{.gpu_ns = 700, .gpu_start_ns = 300}}});
  const Table table = spread(run, {});
  EXPECT_DOUBLE_EQ(real(table, 0, "p50_ns"), 850);
  EXPECT_DOUBLE_EQ(real(table, 0, "net_p50_ns"), 700);
  EXPECT_EQ(whole(table, 0, "net_max_ns"), 700);
  EXPECT_EQ(whole(table, 0, "wait_max_ns"), 300);
  EXPECT_EQ(whole(table, 0, "early_exits"), 0);
  EXPECT_DOUBLE_EQ(real(table, 0, "clock_check"), 0);
}

// Rank 0 is gone before rank 1 comes.
TEST(Spread, CountsWhoLeavesBeforeTheLastArrival) {
  const runfile::RunTables run = run_of({{{.coll = Coll::kBroadcast, .gpu_ns = 100, .gpu_start_ns = 0}},
                                         {{.coll = Coll::kBroadcast, .gpu_ns = 50, .gpu_start_ns = 300}}});
  const Table table = spread(run, {});
  EXPECT_EQ(whole(table, 0, "early_exits"), 1);
  EXPECT_EQ(whole(table, 0, "net_min_ns"), 0);
}

TEST(Spread, GroupsByRank) {
  StudyOptions options;
  options.by = By::kRank;
  const Table table = spread(run_of({{{.gpu_ns = 100}}, {{.gpu_ns = 50}}}), options);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(whole(table, 1, "rank"), 1);
  EXPECT_EQ(whole(table, 1, "max_ns"), 50);
  EXPECT_TRUE(is_missing(table, 0, "algbw_gb_per_s"));
}

TEST(Spread, CountsEachCallOnceInAHistogram) {
  StudyOptions options;
  options.has_histogram = true;
  options.is_for_programs = true;
  std::vector<test::Call> calls;
  for (int i = 0; i < 250; ++i) calls.push_back({.gpu_ns = 1000 + 7 * i, .gpu_start_ns = 0});
  const Table table = spread(run_of({calls}), options);
  ASSERT_EQ(table.rows.size(), kBinsForPrograms);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    sum += whole(table, i, "count");
    EXPECT_EQ(whole(table, i, "count"), whole(table, i, "net_count"));
    EXPECT_EQ(whole(table, i, "end_ns") - whole(table, i, "begin_ns"),
              whole(table, 0, "end_ns") - whole(table, 0, "begin_ns"));
  }
  EXPECT_EQ(sum, 250);
  EXPECT_LE(whole(table, 0, "begin_ns"), 1000);
  EXPECT_GT(whole(table, kBinsForPrograms - 1, "end_ns"), 1000 + 7 * 249);
}

TEST(Spread, LeavesCallsOutsideOfTheStepsOutAndSaysSo) {
  runfile::RunTables run = run_of({{{.host_ns = 10}, {.host_ns = 20}, {.host_ns = 30}}});
  test::add_steps(run, 0, {{1, 1'900'000, 500'000}});
  Table table = spread(run, {});
  EXPECT_EQ(whole(table, 0, "count"), 1);
  EXPECT_EQ(whole(table, 0, "max_ns"), 20);
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("2 calls outside of that are left out")));
  StudyOptions all;
  all.has_all_steps = true;
  EXPECT_EQ(whole(spread(run, all), 0, "count"), 3);
}

TEST(Spread, CountsAnInstancesMembersEvenIfTheirRanksAreNotAskedFor) {
  StudyOptions options;
  options.ranks = "0";
  const Table table = spread(run_of({{{.gpu_ns = 100}}, {{.gpu_ns = 50}}}), options);
  EXPECT_EQ(whole(table, 0, "count"), 1);
  EXPECT_EQ(whole(table, 0, "min_ns"), 100);
  EXPECT_DOUBLE_EQ(real(table, 0, "algbw_gb_per_s"), 1024.0 / 50);
}

TEST(Spread, DoesNotCountPartsOfCalls) {
  runfile::RunTables run = run_of({{{.coll = Coll::kAllToAll}, {.coll = Coll::kSend}, {.coll = Coll::kRecv}}});
  run.nccl.parent[1] = run.nccl.parent[2] = 0;
  const Table table = spread(run, {});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(text(table, 0, "op"), "AllToAll");
}

TEST(Spread, HasNoTimeForACallThatNeverReturned) {
  runfile::RunTables run = run_of({{{.host_ns = 10}, {.host_ns = 20}}});
  run.nccl.end_api_ns[1] = runfile::kNoTime;
  const Table table = spread(run, {});
  EXPECT_EQ(whole(table, 0, "count"), 2);
  EXPECT_EQ(whole(table, 0, "n"), 1);
  EXPECT_EQ(whole(table, 0, "max_ns"), 10);
}

TEST(Spread, FiltersByOperation) {
  StudyOptions options;
  options.op = Coll::kBroadcast;
  const Table table = spread(run_of({{{.coll = Coll::kAllReduce}, {.coll = Coll::kBroadcast}}}), options);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(text(table, 0, "op"), "Broadcast");
}

TEST(Spread, SaysWhyItIsEmpty) {
  EXPECT_THAT(spread(run_of({{}}), {}).empty_reason, HasSubstr("has no NCCL calls"));
  StudyOptions options;
  options.op = Coll::kReduce;
  options.ranks = "3";
  EXPECT_THAT(spread(run_of({{{}}}), options).empty_reason, HasSubstr("--op Reduce --ranks 3"));
}

TEST(Spread, TakesMissingCommunicatorsAndSizes) {
  runfile::RunTables run = run_of({{{}}});
  run.nccl.comm[0] = runfile::kNoIndex;
  run.nccl.size_bytes[0] = runfile::kNoRow;
  run.nccl.instance[0] = runfile::kNoRow;
  const Table table = spread(run, {});
  EXPECT_TRUE(is_missing(table, 0, "ranks"));
  EXPECT_TRUE(is_missing(table, 0, "size_bytes"));
  EXPECT_EQ(whole(table, 0, "count"), 1);
}

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(*bus_factor(Coll::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(*bus_factor(Coll::kReduceScatter, 8), 0.875);
  EXPECT_DOUBLE_EQ(*bus_factor(Coll::kAllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(*bus_factor(Coll::kBroadcast, 8), 1);
  EXPECT_FALSE(bus_factor(Coll::kSend, 8)) << "as spread --explain says";
  EXPECT_FALSE(bus_factor(Coll::kBarrier, 8));
  EXPECT_FALSE(bus_factor(Coll::kAllReduce, 0));
}

// NCCL Inspector's own sample: ReduceScatter of 2 GiB a rank over 8 ranks in 41 057 us is 418 GB/s.
TEST(GbPerS, AgreesWithNcclInspectorsSample) {
  EXPECT_NEAR(gb_per_s(8 * 2147483648ULL, 41'057e3), 418.4, 0.1);
}

}  // namespace
}  // namespace jaxprof::study

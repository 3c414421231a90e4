// The sample run's summary, line by line.
#include "merge/study/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "merge/runfile/rank_ranges.h"
#include "merge/runfile/table_rows.h"
#include "merge/study/render.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/study/calls.h"

namespace jaxprof::study {
namespace {

using runfile::test::sample_run;
using testing::Contains;
using testing::HasSubstr;

// "section|item|value|detail" of each row.
std::vector<std::string> lines(const Table& table) {
  std::vector<std::string> out;
  for (const Row& row : table.rows) {
    const auto* n = std::get_if<std::int64_t>(&row[2]);
    const auto* detail = std::get_if<std::string>(&row[4]);
    out.push_back(std::get<std::string>(row[0]) + "|" + std::get<std::string>(row[1]) + "|" +
                  (n != nullptr ? std::to_string(*n) : "") + "|" + (detail != nullptr ? *detail : ""));
  }
  return out;
}

TEST(Summary, BeginsWithAVerdict) {
  EXPECT_EQ(summary(sample_run()).verdict,
            "57.1 % of the events dropped; 3 of 4 tasks profiled on 2 nodes; 5 NCCL calls, 5 matched to 2 instances (1 "
            "partial); 12 events dropped");
}

TEST(Summary, NamesEveryRankThatIsNotProfiledWithItsReason) {
  const auto rows = lines(summary(sample_run()));
  EXPECT_THAT(rows, Contains("tasks|profiled|3|ranks 0-2"));
  EXPECT_THAT(rows, Contains("tasks|unprofiled|1|rank 3: NVTX_INJECTION64_PATH is set to another tool"));
}

// torchrun on two nodes: the tasks have the numbers of the nodes, their processes the ranks.
TEST(Summary, NamesTheRanksOfATaskThatStartsThem) {
  runfile::RunTables run;
  for (std::int32_t node = 0; node < 2; ++node) {
    const std::size_t task = runfile::add_row(run.tasks);
    run.tasks.task[task] = static_cast<std::uint32_t>(task);
    run.tasks.rank[task] = node;
    run.tasks.state[task] = runfile::TaskState::kProfiled;
    for (const std::int32_t rank : {2 * node, 2 * node + 1}) {
      const std::size_t process = runfile::add_row(run.processes);
      run.processes.process[process] = static_cast<std::uint32_t>(process);
      run.processes.task[process] = static_cast<std::uint32_t>(task);
      run.processes.rank[process] = rank;
    }
  }
  runfile::fill_empty_offsets(run);
  EXPECT_THAT(lines(summary(run)), Contains("tasks|profiled|2|ranks 0-3"));
}

TEST(Summary, ChecksCallsAgainstKernelsByPath) {
  runfile::RunTables run = test::run_of(
      {{{.gpu_ns = 10}, {.gpu_ns = 10}, {}, {.is_captured = true}, {.gpu_ns = 5, .replay = 0, .is_captured = true}}});
  run.nccl.path[1] = runfile::JoinPath::kOrder;
  run.nccl.path[4] = runfile::JoinPath::kGraph;
  runfile::resize_rows(run.kernels, 3);
  run.kernel_process_offset = {0, 3};
  const auto rows = lines(summary(run));
  EXPECT_THAT(rows, Contains("calls|with kernel|3|"));
  EXPECT_THAT(rows, Contains("calls|with kernel, external|1|exact: NCCL's plugin marked the launch"));
  EXPECT_THAT(rows, Contains("calls|with kernel, graph|1|by the graph's node"));
  EXPECT_THAT(rows, Contains("calls|with kernel, order|1|approximate: the k-th kernel of the stream"));
  EXPECT_THAT(rows, Contains("calls|without kernel|2|1 of them captured into CUDA graphs: their replays are calls of "
                             "their own"));
  EXPECT_THAT(rows, Contains("calls|replays of CUDA graphs|1|"));
}

TEST(Summary, TellsOfGpusAndWindows) {
  const auto rows = lines(summary(sample_run()));
  EXPECT_THAT(rows, Contains("gpus|devices|1|1 x puppet GPU"));
  EXPECT_THAT(rows, Contains("gpus|recorded, alone|1|rank 0: CUPTI 13.0.1"));
  EXPECT_THAT(rows, Contains("gpus|recorded, not told|2|ranks 1-2: CUDA was not used there"));
  EXPECT_THAT(rows, Contains("gpus|kernels|1|"));
  EXPECT_THAT(rows, Contains("gpus|without time|0|"));
  EXPECT_THAT(rows, Contains("windows|segment 0|1|rank 0: closed: not told x1, opened: step x1; opened at step -1"));
}

TEST(Summary, ComparesOpeningsOfNodesOnlyWhereTheirClocksAllowIt) {
  runfile::RunTables run = test::run_of({{{}}, {{}}, {{}}});
  run.processes.node = {0, 0, 1};
  runfile::resize_rows(run.segments, 3);
  run.segments.process = {0, 1, 2};
  run.segments.segment = {0, 0, 0};
  run.segments.open_ns = {1000, 1500, 9000};
  const char* item = "windows|segment 0, spread of openings|";
  EXPECT_THAT(lines(summary(run)), Contains(item + std::string("500|within a node at most; between nodes unknown, as "
                                                               "their clocks have no bound")));
  run.attributes.clock_bound_ns = 2000;
  EXPECT_THAT(lines(summary(run)), Contains(item + std::string("8000|the nodes' clocks may be 2 µs apart")));
  run.attributes.clock_bound_ns = std::numeric_limits<double>::quiet_NaN();
  run.processes.node = {0, 1, 2};
  EXPECT_THAT(lines(summary(run)), Contains(HasSubstr(item + std::string("|unknown: the processes are on different"))));
  run.processes.node = {0, 0, 0};
  EXPECT_THAT(lines(summary(run)), Contains(item + std::string("8000|")));
}

TEST(Summary, CountsEventsCallsAndInstances) {
  const auto rows = lines(summary(sample_run()));
  EXPECT_THAT(rows, Contains("events|NVTX push/pop ranges|2|"));
  EXPECT_THAT(rows, Contains("events|NCCL calls|5|"));
  EXPECT_THAT(rows, Contains("events|NCCL AllReduce|5|"));
  EXPECT_THAT(rows, Contains("calls|with kernel|1|"));
  EXPECT_THAT(rows, Contains("calls|unmatched|0|"));
  EXPECT_THAT(rows, Contains("instances|with every member|1|"));
  EXPECT_THAT(rows, Contains("instances|partial|1|a member is not in this run file"));
}

TEST(Summary, ListsLossesByCauseAndWritesZeroOut) {
  EXPECT_THAT(lines(summary(sample_run())), Contains("losses|drop.ring|12|ring of thread 77 was full"));
  EXPECT_THAT(lines(summary(test::run_of({{{}}}))), Contains("losses|dropped events|0|"));
}

TEST(Summary, SaysWhyCallsAreNotMatched) {
  runfile::RunTables run = test::run_of({{{}, {}, {}, {.coll = runfile::Coll::kSend}, {}}});
  for (const std::size_t row : {0UL, 1UL, 2UL, 3UL}) run.nccl.instance[row] = runfile::kNoRow;
  run.nccl.comm[0] = runfile::kNoIndex;
  run.nccl.seq[1] = runfile::kNoRow;
  const auto rows = lines(summary(run));
  EXPECT_THAT(rows, Contains("calls|matched|1|"));
  EXPECT_THAT(rows, Contains("calls|unmatched|3|"));
  EXPECT_THAT(rows, Contains("calls|unmatched, communicator unknown|1|"));
  EXPECT_THAT(rows, Contains("calls|unmatched, no sequence number|1|"));
  EXPECT_THAT(rows, Contains("calls|point-to-point|1|not matched to instances"));
  EXPECT_THAT(rows, Contains("calls|unmatched, another call has its member, function and sequence number|1|"));
  run.nccl.replay[2] = 7;
  EXPECT_THAT(lines(summary(run)), Contains("calls|unmatched, which replay of the graph it was is not known|1|"));
}

TEST(Summary, CountsACallAsGroupedOnlyWithCompany) {
  runfile::RunTables run = test::run_of({{{}, {}, {}, {}}});
  run.nccl.group = {5, 5, 6, runfile::kNoRow};
  EXPECT_THAT(lines(summary(run)), Contains("calls|grouped|2|"));
}

TEST(Summary, CountsPartsOfCallsApart) {
  runfile::RunTables run = test::run_of({{{.coll = runfile::Coll::kAllToAll}, {.coll = runfile::Coll::kSend}}});
  run.nccl.parent[1] = 0;
  const auto rows = lines(summary(run));
  EXPECT_THAT(rows, Contains("events|NCCL calls|1|"));
  EXPECT_THAT(rows, Contains("events|NCCL parts of calls|1|"));
}

TEST(Summary, SaysWhenTheRunBeganInUtc) {
  runfile::RunTables run = test::run_of({{{}}});
  run.attributes.epoch_unix_ns = 1'700'000'000'250'000'000;
  run.processes.start_ns[0] = 0;
  run.processes.end_ns[0] = 7;
  const auto rows = lines(summary(run));
  EXPECT_THAT(rows, Contains("time|begin||2023-11-14 22:13:20.250 UTC"));
  EXPECT_THAT(rows, Contains("time|span|7|"));
}

TEST(Summary, DoesNotCallAnUnknownSizeZero) {
  runfile::RunTables run = test::run_of({{{}}});
  run.attributes.world_size = 0;
  EXPECT_THAT(lines(summary(run)), Contains("job|ranks||unknown"));
}

TEST(Summary, CountsInstancesWhoseOrderIsUnresolved) {
  runfile::RunTables run = test::run_of({{{}, {}}, {{}, {}}});
  EXPECT_THAT(lines(summary(run)), Contains("instances|unresolved|0|"));
  run.collectives.flags[1] = runfile::kInstanceUnresolved;
  EXPECT_THAT(lines(summary(run)), Contains(HasSubstr("instances|unresolved|1|on several nodes")));
}

TEST(Summary, SaysFirstThatNothingWasRecorded) {
  EXPECT_EQ(summary(runfile::RunTables{}).verdict.substr(0, 27), "no task recorded anything; ");
}

TEST(Summary, OfManyFindingsOfACodeNamesTheRanksAndTheFirst) {
  runfile::RunTables run = test::run_of({{{}}});
  for (const std::int32_t rank : {1, 2, 5}) {
    const std::size_t row = runfile::add_row(run.diagnostics);
    run.diagnostics.code[row] = run.strings.intern("nvtx.never-ended");
    run.diagnostics.rank[row] = rank;
    run.diagnostics.count[row] = 10;
    run.diagnostics.text[row] = run.strings.intern("rank " + std::to_string(rank) + " on n0: 10 open");
  }
  EXPECT_THAT(lines(summary(run)),
              Contains("diagnostics|nvtx.never-ended|30|ranks 1-2,5; the first: rank 1 on n0: 10 open"));
}

void add_finding(runfile::RunTables* run, runfile::Severity severity, std::string_view code, std::int32_t rank) {
  const std::size_t row = runfile::add_row(run->diagnostics);
  run->diagnostics.severity[row] = severity;
  run->diagnostics.code[row] = run->strings.intern(code);
  run->diagnostics.rank[row] = rank;
  run->diagnostics.count[row] = 1;
  run->diagnostics.text[row] = run->strings.intern("rank " + std::to_string(rank) + " says so");
}

TEST(Summary, SaysFirstThatARunIsPartialOrStopped) {
  runfile::RunTables run = sample_run();
  run.attributes.n_dropped = 0;
  add_finding(&run, runfile::Severity::kWarning, "recording.stopped", 0);
  EXPECT_THAT(summary(run).verdict, testing::StartsWith("recording stopped on 1 rank; 3 of 4 tasks"));
  add_finding(&run, runfile::Severity::kError, "spool.cut", 1);
  add_finding(&run, runfile::Severity::kError, "spool.cut", 2);
  EXPECT_THAT(summary(run).verdict,
              testing::StartsWith("partial: 2 of 4 tasks cut; recording stopped on 1 rank; 3 of 4 tasks"));
}

TEST(Summary, SaysFirstThatGpusWereNotRecordedThoughAskedFor) {
  runfile::RunTables run = sample_run();
  run.attributes.n_dropped = 0;
  run.processes.gpu_mode[1] = runfile::GpuMode::kUnavailable;
  EXPECT_THAT(summary(run).verdict, testing::StartsWith("GPUs of 1 process not recorded; 3 of 4 tasks"));
  run.processes.gpu_mode[2] = runfile::GpuMode::kUnavailable;
  EXPECT_THAT(summary(run).verdict, testing::StartsWith("GPUs of 2 processes not recorded; 3 of 4 tasks"));
  run.processes.gpu_mode[2] = runfile::GpuMode::kNotAsked;
  run.processes.gpu_note[2] = run.strings.intern("-t nvtx");
  EXPECT_THAT(lines(summary(run)), Contains("gpus|not asked for|1|rank 2: -t nvtx"));
}

TEST(Summary, CountsKernelsOfGraphsThatNoCallHas) {
  runfile::RunTables run = test::run_of({{{}}});
  add_finding(&run, runfile::Severity::kWarning, "call.graph-unjoined", 0);
  EXPECT_THAT(lines(summary(run)), Contains("calls|NCCL kernels in graphs, without call|1|rank 0 says so"));
}

TEST(Summary, ListsEveryFindingIfAsked) {
  runfile::RunTables run = test::run_of({{{}}});
  add_finding(&run, runfile::Severity::kError, "spool.cut", 1);
  add_finding(&run, runfile::Severity::kError, "spool.cut", 2);
  StudyOptions all;
  all.lists_all = true;
  const auto rows = lines(summary(run, all));
  EXPECT_THAT(rows, Contains("diagnostics|spool.cut|1|rank 1 says so"));
  EXPECT_THAT(rows, Contains("diagnostics|spool.cut|1|rank 2 says so"));
}

TEST(Summary, AsksForNoColumnOfEvents) {
  EXPECT_FALSE(summary_wants("/events/nvtx/kind"));
  EXPECT_FALSE(summary_wants("/events/nccl/coll"));
  EXPECT_TRUE(summary_wants("/events/nccl/process_offset"));
  EXPECT_FALSE(summary_wants("/events/nvtx/name"));
  EXPECT_TRUE(summary_wants("/job/tasks"));
  EXPECT_TRUE(summary_wants("/comms/member_offset"));
}

TEST(RankRanges, FoldsNeighbours) {
  EXPECT_EQ(runfile::rank_ranges({5}), "rank 5");
  EXPECT_EQ(runfile::rank_ranges({7, 3, 1, 2, 0, 2}), "ranks 0-3,7");
  EXPECT_EQ(runfile::rank_ranges({0, -1, -1}), "rank 0 and 2 of unknown rank");
  EXPECT_EQ(runfile::rank_ranges({-1}), "1 of unknown rank");
}

}  // namespace
}  // namespace jaxprof::study

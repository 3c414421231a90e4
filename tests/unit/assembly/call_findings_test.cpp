// The words for what members did not do as others did.
#include "merge/assembly/call_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using match::CallFinding;
using match::Deviation;
using test::codes;
using test::findings;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

CallFinding found(Deviation what, std::uint32_t process, std::uint64_t count) {
  CallFinding finding;
  finding.what = what;
  finding.process = process;
  finding.count = count;
  finding.comm_count = 1;
  finding.comm = 4;
  finding.comm_rank = 1;
  finding.coll = runfile::Coll::kAllReduce;
  finding.seq = 17;
  finding.time_ns = 43'200'000'000'000;
  return finding;
}

// /diagnostics of a run of `ranks` of which that was found.
runfile::RunTables diagnosed(const std::vector<CallFinding>& all, std::int64_t ranks = 2, std::uint64_t dropped = 0) {
  test::RunFolder folder;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    folder.add_rank(test::Recording(rank, ranks, "n" + std::to_string(rank)), rank, ranks, "n" + std::to_string(rank));
  }
  const RunSources sources = open_sources(rundir::read_run_directory(folder.path())->runs.at(0));
  runfile::RunTables run;
  run.processes.n_dropped.assign(static_cast<std::size_t>(ranks), dropped);
  Diagnostics diagnostics;
  diagnose_call_order(all, sources, run, &diagnostics);
  write_findings(diagnostics, &run);
  return run;
}

TEST(CallFindings, SayWhichCallIsMissingWhereAndWhen) {
  const runfile::RunTables run = diagnosed({found(Deviation::kMissing, 1, 2)});
  EXPECT_THAT(findings(run, "collective.missing-call"),
              ElementsAre(testing::AllOf(
                  StartsWith("rank 1 on n1: 2 collective calls of other members are missing between its own: first "
                             "AllReduce 17 of communicator 4 at 12:00:00.000Z"),
                  EndsWith("; it did not make them, or their records were lost"))));
  EXPECT_THAT(run.diagnostics.rank, ElementsAre(1));
  EXPECT_THAT(run.diagnostics.process, ElementsAre(1u));
  EXPECT_THAT(run.diagnostics.count, ElementsAre(2u));
  EXPECT_THAT(run.diagnostics.severity, ElementsAre(runfile::Severity::kWarning));
}

TEST(CallFindings, TellOfLossesThatMayExplainIt) {
  EXPECT_THAT(findings(diagnosed({found(Deviation::kMissing, 0, 1)}, 2, 7), "collective.missing-call"),
              ElementsAre(EndsWith("; it lost 7 events, of which these may be")));
}

TEST(CallFindings, SayWhichCallWasMadeAtAnotherPlace) {
  CallFinding finding = found(Deviation::kSwapped, 0, 100);
  finding.is_early = true;
  finding.comm_count = 3;
  EXPECT_THAT(findings(diagnosed({finding}), "collective.swapped-order"),
              ElementsAre(testing::AllOf(
                  StartsWith("rank 0 on n0 made collective calls in another order than most members, 100 times, on 3 "
                             "communicators, or left one out: first AllReduce 17 of communicator 4 at "),
                  EndsWith(", too early"))));
  finding.is_even = true;
  finding.is_early = false;
  EXPECT_THAT(findings(diagnosed({finding}), "collective.swapped-order"),
              ElementsAre(EndsWith(", too late; as many members made them in its order as in the other")));
}

TEST(CallFindings, OfTheEndsAreNotes) {
  const runfile::RunTables run = diagnosed({found(Deviation::kLateStart, 0, 4), found(Deviation::kEarlyEnd, 1, 1)});
  EXPECT_THAT(findings(run, "collective.late-start"),
              ElementsAre(HasSubstr("begin 4 calls after those of other members, with AllReduce 17")));
  EXPECT_THAT(findings(run, "collective.early-end"),
              ElementsAre(HasSubstr("rank 1 on n1: its recorded collective calls end 1 call before")));
  EXPECT_THAT(run.diagnostics.severity, testing::Each(runfile::Severity::kInfo));
}

TEST(CallFindings, OfManyRanksShareARow) {
  std::vector<CallFinding> all;
  for (std::uint32_t process = 0; process < 20; ++process) all.push_back(found(Deviation::kLateStart, process, 3));
  const runfile::RunTables run = diagnosed(all, 20);
  const auto texts = findings(run, "collective.late-start");
  ASSERT_THAT(texts, testing::SizeIs(17));
  EXPECT_EQ(texts.back(), "the same of ranks 16-19: 12 calls");
}

TEST(CallFindings, CountTransfersThatAreNotWhole) {
  runfile::TransferTable transfers;
  transfers.flags = {0, runfile::kInstancePartial, runfile::kInstanceMismatch | runfile::kInstanceGrouped,
                     runfile::kInstancePartial};
  TransferCounts counts;
  counts.take(transfers);
  runfile::RunTables run;
  Diagnostics diagnostics;
  diagnose_transfers({5, 0, 1}, counts, &diagnostics);
  write_findings(diagnostics, &run);
  EXPECT_THAT(codes(run),
              ElementsAre("transfer.mismatch", "transfer.partial", "transfer.replay", "transfer.unnumbered"));
  EXPECT_THAT(findings(run, "transfer.partial"), ElementsAre("2 transfers lack a side, the Send or the Recv"));
  EXPECT_THAT(findings(run, "transfer.unnumbered"),
              ElementsAre(StartsWith("5 Sends and Recvs have no number and are not matched")));
  Diagnostics nothing;
  diagnose_transfers({}, {}, &nothing);
  EXPECT_TRUE(nothing.findings().empty());
}

}  // namespace
}  // namespace jaxprof::assembly

// What the merge says of spools: cut, full, copied, of other runs; who, where and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/findings_case.h"

namespace jaxprof::assembly {
namespace {

using spool::FooterReason;
using test::findings;
using test::FindingsTest;
using test::kSecond;
using test::Recording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(FindingsTest, ACutSpoolTellsItsLastEventAndWhoMayHaveMore) {
  Recording recorded = recording(0, "n0", 40'000, 40'100);
  recorded.push(1, 0, 0, "range", 41'230'000'000);
  recorded.write(run_.path(), "rank0.jxspool.part", false);
  run_.add(test::task_start(0, 1));
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.cut"),
              ElementsAre("rank 0 on n0 (" + run_.file("rank0.jxspool.part") +
                          ") is cut: the last event is of 11:07:21.230Z, 41.2 s after the run began; its wrapper was "
                          "killed, or the run goes on; `jaxprof collect " +
                          run_.path() + "` on n0 may have more"));
  EXPECT_THAT(findings(tables(), "rank.missing"), IsEmpty()) << "the rank is told of once";
}

TEST_F(FindingsTest, ACutSpoolWithoutAnEventSaysThat) {
  recording(0, "n0", 100, 200).write(run_.path(), "rank0.jxspool", false);
  run_.add(test::task_start(0, 1));
  run_.add(test::task_end(0));
  assemble();
  EXPECT_THAT(findings(tables(), "spool.cut"),
              ElementsAre(AllOf(
                  HasSubstr("is cut: it holds no event, and its clock was last read at 00:03:20.000Z, 100.0 s after"),
                  HasSubstr("called _exit or exec"))));
}

TEST_F(FindingsTest, WhatIsThereInPartIsNoLoss) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.drop(Drop::kGpuWithoutTime, 5);
  recorded.drop(Drop::kPayloadTruncated, 3);
  recorded.drop(Drop::kGpuNameLost, 4);
  recorded.drop(Drop::kGpuBuffersFull, 2);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_EQ(tables().attributes.n_dropped, 2u);
  EXPECT_EQ(tables().processes.n_dropped[0], 2u);
  EXPECT_THAT(findings(tables(), "kept.gpu-without-time"), ElementsAre(HasSubstr("has 5 events in part")));
  EXPECT_THAT(findings(tables(), "kept.payload-truncated"), ElementsAre(HasSubstr("has 3 events in part")));
  EXPECT_THAT(findings(tables(), "kept.gpu-name-lost"), ElementsAre(HasSubstr("has 4 events in part")));
  EXPECT_THAT(findings(tables(), "drop.gpu-buffers-full"),
              ElementsAre(HasSubstr("dropped 2: gpu-buffers-full; a larger --buffer-size holds more")));
}

TEST_F(FindingsTest, ASpoolThatTheDiskDidNotTakeIsALoss) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.stop(FooterReason::kWriteFailed, 130 * kSecond);
  recorded.drop(Drop::kSpoolWriteFailed, 40);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre("rank 0 on n0 (" + run_.file("rank0.jxspool") +
                          ") could not be written any further: disk full or file size limit, since 00:02:10.000Z, "
                          "30.0 s after the run began"));
}

TEST_F(FindingsTest, ARecordingThatEndedWithAnothersSpoolIsALossToo) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.stop(FooterReason::kWriteFailed, 130 * kSecond);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre(HasSubstr(": another spool of its task could not be written: disk full")));
}

TEST_F(FindingsTest, ALossToTheDiskIsToldWithoutItsFooterToo) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.drop(Drop::kSpoolWriteFailed, 40);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre(HasSubstr(") could not be written at some time, which is not known: disk full or")));
  EXPECT_THAT(findings(tables(), "drop.spool-write-failed"), ElementsAre(HasSubstr("dropped 40")));
}

TEST_F(FindingsTest, APartBesideItsFinishedSpoolIsAnEarlierState) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  const std::string bytes = Recording(0, 1, "n0").bytes();
  test::write_file(run_.file("rank0.jxspool.part"), bytes.substr(0, bytes.size() - 10));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.part-left"),
              ElementsAre(run_.file("rank0.jxspool.part") + " is an earlier state of " + run_.file("rank0.jxspool") +
                          " and was left out"));
  EXPECT_EQ(runfile::n_rows(tables().processes), 1u);
}

TEST_F(FindingsTest, OfAPartAndACutSpoolTheLongerCounts) {
  Recording recorded(0, 1, "n0");
  recorded.push(1, 0, 0, "range", 50);
  const std::string bytes = recorded.bytes(false);
  test::write_file(run_.file("rank0.jxspool"), Recording(0, 1, "n0").bytes(false));
  test::write_file(run_.file("rank0.jxspool.part"), bytes);
  run_.add(test::task_start(0, 1));
  assemble();
  EXPECT_EQ(tables().processes.spool_bytes.at(0), bytes.size());
  EXPECT_THAT(findings(tables(), "spool.part-left"), ElementsAre(HasSubstr("rank0.jxspool is an earlier state of")));
}

TEST_F(FindingsTest, ASpoolOfAnotherRunIsNamed) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  Recording foreign(3, 8, "n7");
  foreign.set(spool::IdentityKey::kRunId, std::string("9.0.0"));
  foreign.set(spool::IdentityKey::kAttachRealtimeNs, 61 * kSecond);
  rundir::FoundRun run = rundir::read_run_directory(run_.path())->runs.at(0);
  run.foreign_spools = {foreign.write(run_.path(), "x.jxspool")};
  assembled_ = assemble_run(run);
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.foreign"),
              ElementsAre(run_.file("x.jxspool") +
                          " is of another run, 9.0.0 (rank 3 on n7, from 00:01:01.000Z, 60.0 s after the run began), "
                          "and was left out; --run 9.0.0 reads it"));
}

TEST_F(FindingsTest, OfTwoCopiesTheOneWithItsOwnNameIsKept) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.set(spool::IdentityKey::kStem, std::string("rank0"));
  run_.add_rank(recorded, 0, 1, "n0");
  recorded.write(run_.path(), "a.jxspool");
  recorded.write(run_.path(), "z.jxspool");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.duplicate"),
              ElementsAre(run_.file("a.jxspool") + " is a copy of the spool " + run_.file("rank0.jxspool") +
                              " and was left out; remove one of them",
                          HasSubstr("z.jxspool is a copy")));
}

TEST_F(FindingsTest, CopiesThatDifferMakeTheRunPartial) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.set(spool::IdentityKey::kStem, std::string("rank0"));
  run_.add_rank(recorded, 0, 1, "n0");
  recorded.push(1, 0, 0, "range", 50);
  recorded.write(run_.path(), "a.jxspool");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.duplicate"),
              ElementsAre(run_.file("a.jxspool") + " differs from its copy " + run_.file("rank0.jxspool") +
                          " and was left out; remove one of them"));
}

}  // namespace
}  // namespace jaxprof::assembly

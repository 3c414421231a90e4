// Events of several processes in one table: order, times, sizes, instances.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::assembly {
namespace {

using test::Call;
using test::codes;
using test::findings;
using test::NcclRecording;
using test::Recording;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(EventTables, AllMembersOfACallMeet) {
  test::RunFolder run;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    NcclRecording recording(rank, 4);
    for (std::uint64_t i = 0; i < 3; ++i) {
      Call call;
      call.sequence = i;
      recording.whole_call(call, "ncclAllReduce", 1000 * (i + 1) + static_cast<std::uint64_t>(rank));
    }
    run.add_rank(recording, rank, 4, "n" + std::to_string(rank));
  }
  const AssembledRun assembled = run.assemble();
  const runfile::RunTables& tables = assembled.tables;
  EXPECT_FALSE(assembled.is_partial);
  EXPECT_THAT(
      findings(tables, "collective.unresolved"),
      ElementsAre(
          "3 collectives have members on several nodes, whose clocks have no known bound: which one came last is "
          "not known"));
  EXPECT_THAT(codes(tables), testing::SizeIs(1));
  EXPECT_EQ(runfile::n_rows(tables.nccl), 12u);
  EXPECT_THAT(tables.nccl_process_offset, ElementsAre(0, 3, 6, 9, 12));
  EXPECT_EQ(tables.comms.n_ranks, std::vector<std::uint32_t>{4});
  EXPECT_THAT(tables.comm_members.member_comm_rank, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(tables.collectives.n_seen, ElementsAre(4, 4, 4));
  EXPECT_THAT(tables.collectives.last_member, ElementsAre(3, 3, 3));
  EXPECT_THAT(tables.collectives.size_bytes, ElementsAre(4096, 4096, 4096));
  EXPECT_THAT(tables.nccl.src, testing::Each(runfile::NcclSource::kNcclPluginAndNvtx));
}

TEST(EventTables, ALostMemberMakesTheInstancePartial) {
  test::RunFolder run;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    NcclRecording recording(rank, 2);
    if (rank == 0) recording.whole_call({}, "ncclAllReduce", 1000);
    run.add_rank(recording, rank, 2, "n" + std::to_string(rank));
  }
  const AssembledRun assembled = run.assemble();
  EXPECT_THAT(codes(assembled.tables), ElementsAre("collective.partial"));
  EXPECT_FALSE(assembled.is_partial) << "a warning: the job may have ended so";
}

TEST(EventTables, MoreMembersThanRanksAlarm) {
  test::RunFolder run;
  for (std::int32_t rank = 0; rank < 3; ++rank) {
    NcclRecording recording(rank, 2);
    recording.whole_call({}, "ncclAllReduce", 1000);
    run.add_rank(recording, rank, 3, "n0");
  }
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.collectives.n_seen, ElementsAre(3));
  EXPECT_THAT(findings(tables, "collective.overfull"),
              ElementsAre(testing::HasSubstr("1 collective has more members than the communicator has ranks")));
}

// Each process numbers its GPUs from 0.
TEST(EventTables, GpusAreKeptApartByProcessAndNumber) {
  test::RunFolder run;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    NcclRecording recording(rank, 2, false);
    for (std::int32_t device = 0; device < 2; ++device) {
      recording.communicator(static_cast<std::uint32_t>(device + 1), NcclRecording::kComm, 2 * rank + device, 4, 1, "");
      recording.comm_range(2 * rank + device, 4, 100, NcclRecording::kComm, device);
    }
    recording.whole_call({}, "ncclAllReduce", 1000);  // by the plugin's first communicator
    run.add_rank(recording, rank, 2, "n" + std::to_string(rank));
  }
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.devices.device, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(tables.devices.process, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(tables.devices.ordinal, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(tables.devices.node, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(tables.comm_members.member_comm_rank, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(tables.comm_members.member_process, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(tables.comm_members.member_device, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(tables.nccl.comm_rank, ElementsAre(0, 2));
  EXPECT_THAT(tables.nccl.device, ElementsAre(0, 2));
}

TEST(EventTables, FindingsAboutRangesNameTheirRank) {
  test::RunFolder run;
  Recording recording(3, 4, "n1");
  recording.push(1, 0, 0, "open", 100);
  run.add_rank(recording, 3, 4, "n1");
  EXPECT_THAT(findings(run.assemble().tables, "nvtx.never-ended"),
              ElementsAre("rank 3 on n1: 1 NVTX range was open when its recording ended"));
}

TEST(EventTables, SizesFollowTheConventionOfTheOperation) {
  test::RunFolder run;
  NcclRecording recording(0, 8);
  recording.range("ncclAllGather", 10, 20, 1000);
  recording.range("ncclBroadcast", 30, 40, 1000);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.nccl.bytes, ElementsAre(1000, 1000));
  EXPECT_THAT(tables.nccl.size_bytes, ElementsAre(8000, 1000));
}

TEST(EventTables, TimesCountFromTheEarliestOfTheRun) {
  test::RunFolder run;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const std::string host = "n" + std::to_string(rank);
    Recording recording(rank, 2, host);
    const std::int64_t boot_ns = (100 + 50 * rank) * kSecond;  // REALTIME when the counter was 0
    recording.anchor({1000, 1000, boot_ns + 1000, 1000, 10});
    recording.anchor({2'000'001'000, 2'000'001'000, boot_ns + 2'000'001'000, 2'000'001'000, 10});
    recording.push(1, 0, 0, "range", 500'000);
    recording.pop(1, 0, 0, 700'000);
    run.add_rank(recording, rank, 2, host);
  }
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_EQ(tables.attributes.epoch_unix_ns, 100 * kSecond + 1000);
  EXPECT_THAT(tables.processes.start_ns, ElementsAre(0, 50 * kSecond));
  EXPECT_THAT(tables.nvtx.start_ns, ElementsAre(499'000, 50 * kSecond + 499'000));
  EXPECT_THAT(tables.nvtx.dur_ns, ElementsAre(200'000, 200'000));
}

TEST(EventTables, RangesAreInTheOrderOfTheirStartsWithParents) {
  test::RunFolder run;
  Recording recording;
  recording.push(1, 0, 0, "late block", 100);
  recording.push(1, 0, 1, "inner", 110);
  recording.pop(1, 0, 1, 120);
  recording.pop(1, 0, 0, 130);
  recording.push(2, 0, 0, "early", 50);
  recording.pop(2, 0, 0, 300);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  std::vector<std::string_view> names;
  for (const runfile::StringId id : tables.nvtx.name) names.push_back(tables.strings.text(id));
  EXPECT_THAT(names, ElementsAre("early", "late block", "inner"));
  EXPECT_THAT(tables.nvtx.parent, ElementsAre(runfile::kNoRow, runfile::kNoRow, 1));
  EXPECT_THAT(tables.nvtx.depth, ElementsAre(0, 0, 1));
}

TEST(EventTables, WithoutAnAnchorEventsAreLeftOutAndThisIsSaid) {
  test::RunFolder run;
  Recording recording;
  recording.anchor({5, -1, -1, -1, 0});  // no clock shows this
  recording.push(1, 0, 0, "range", 100);
  run.add_rank(recording, 0, 1, "n0");
  const AssembledRun assembled = run.assemble();
  EXPECT_TRUE(assembled.is_partial);
  EXPECT_THAT(codes(assembled.tables), ElementsAre("clock.no-anchor", "spool.implausible"));
  EXPECT_EQ(runfile::n_rows(assembled.tables.nvtx), 0u);
}

TEST(EventTables, WhatCannotBeMatchedIsSaid) {
  test::RunFolder run;
  NcclRecording recording(0, 1, false);
  recording.range("ncclAllReduce", 10, 20, 64, 0);
  recording.range("ncclAllReduce", 30, 40, 64, 77);
  run.add_rank(recording, 0, 1, "n0");
  EXPECT_THAT(codes(run.assemble().tables), ElementsAre("call.without-communicator", "comm.size-unknown"));
}

}  // namespace
}  // namespace jaxprof::assembly

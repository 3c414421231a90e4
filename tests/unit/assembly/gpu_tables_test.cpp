// From spools with GPUs to the tables of a run, and what is said of their records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/contract/session_page.h"
#include "tests/unit/assembly/assembled_folder.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::assembly {
namespace {

using runfile::JoinPath;
using runfile::Timing;
using spool::EventKind;
using test::codes;
using test::findings;
using test::Recording;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kStream = 0x77;
// CUPTI's clock is this much ahead of the event clock in these tests.
constexpr std::int64_t kGpuAhead = 5'000'000'000;

std::uint64_t gpu(std::uint64_t stamp) {
  return stamp + static_cast<std::uint64_t>(kGpuAhead);
}

// Member `rank` of two, on GPU 0 of its process: one AllReduce whose kernel starts `late` after 2000.
class GpuRank : public test::NcclRecording {
 public:
  explicit GpuRank(std::int32_t rank, std::uint64_t late = 0) : NcclRecording(rank, 2) {
    thread(1, 501);
    lane(1, 0, 13, kStream);
    for (std::uint64_t s = 0; s < 4; ++s)
      gpu_clock(s * 1'000'000'000, kGpuAhead + static_cast<std::int64_t>(s * 1'000'000'000));
    const auto group_call = group_api(1, 1000, 1500);
    const auto api = coll_api({}, group_call, 1010, 1020);
    const auto launched = launch(kStream, 1100, 1200);
    const auto plan = group(1250, 1400);
    coll({}, api, plan, 1300, 1310);
    external(launched, 7);
    api_call(gpu(1110), 50, 501, 7);
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", gpu(2000 + late), static_cast<std::int64_t>(1000 - late), 1, 7);
  }
  void device(std::uint8_t first_uuid_byte) {
    spool::GpuDeviceState fixed{};
    fixed.name = string("puppet GPU");
    fixed.uuid[0] = first_uuid_byte;
    fixed.capability = 90;
    fixed.memory_bytes = 1 << 20;
    state(spool::StateKind::kGpuDevice, fixed);
  }
};

runfile::RunTables merged(const GpuRank& first, const GpuRank& second, const std::string& second_host = "n1") {
  test::RunFolder run;
  run.add_rank(first, 0, 2, "n0");
  run.add_rank(second, 1, 2, second_host);
  return run.assemble().tables;
}

TEST(GpuTables, ACallHasTheTimesOfItsKernelOnTheRunsAxis) {
  const runfile::RunTables run = merged(GpuRank(0), GpuRank(1, 300));
  ASSERT_EQ(run.kernels.start_ns.size(), 2u);
  ASSERT_EQ(run.nccl.start_ns.size(), 2u);
  // 1010 is the earliest stamp of a call, and the anchor at stamp 0 the earliest of all.
  EXPECT_THAT(run.nccl.start_ns, ElementsAre(1010, 1010));
  EXPECT_THAT(run.nccl.gpu_start_ns, ElementsAre(2000, 2300));
  EXPECT_THAT(run.nccl.gpu_dur_ns, ElementsAre(1000, 700));
  EXPECT_THAT(run.nccl.timing, Each(Timing::kCupti));
  EXPECT_THAT(run.nccl.path, Each(JoinPath::kExternal));
  EXPECT_THAT(run.nccl.stream, Each(13u));
  EXPECT_THAT(run.nccl.device, ElementsAre(0, 1));
  EXPECT_THAT(run.comm_members.member_device, ElementsAre(0, 1)) << "which only the kernels tell";
  EXPECT_THAT(run.nccl_work.call, ElementsAre(0, 1));
  EXPECT_THAT(run.nccl_work.kernel, ElementsAre(0, 1));
  EXPECT_THAT(run.kernels.api, ElementsAre(0, 1));
  EXPECT_THAT(run.kernel_process_offset, ElementsAre(0, 1, 2));
}

TEST(GpuTables, AnInstanceHasItsArrivals) {
  const runfile::RunTables run = merged(GpuRank(0), GpuRank(1, 300));
  ASSERT_EQ(run.collectives.comm.size(), 1u);
  EXPECT_EQ(run.collectives.first_start_ns[0], 2000);
  EXPECT_EQ(run.collectives.last_start_ns[0], 2300);
  EXPECT_EQ(run.collectives.first_end_ns[0], 3000);
  EXPECT_EQ(run.collectives.last_end_ns[0], 3000);
  EXPECT_EQ(run.collectives.last_arrival[0], 1);
}

TEST(GpuTables, OneGpuOfTwoProcessesIsOneRow) {
  GpuRank first(0);
  GpuRank second(1);
  for (GpuRank* rank : {&first, &second}) rank->device(0xab);
  second.set(spool::IdentityKey::kHost, "n0");
  second.set(spool::IdentityKey::kBootId, "n0-boot");
  const runfile::RunTables run = merged(first, second, "n0");
  ASSERT_EQ(run.devices.device.size(), 1u);
  EXPECT_EQ(run.devices.uuid[0].view(), "GPU-ab000000-0000-0000-0000-000000000000");
  EXPECT_EQ(run.devices.process[0], runfile::kNoIndex);
  EXPECT_EQ(run.strings.text(run.devices.name[0]), "puppet GPU");
  EXPECT_EQ(run.devices.capability[0], 90u);
  EXPECT_THAT(run.nccl.device, ElementsAre(0, 0));
}

TEST(GpuTables, TheSameUuidOnTwoNodesIsTwoGpus) {
  GpuRank first(0);
  GpuRank second(1);
  for (GpuRank* rank : {&first, &second}) rank->device(0xab);
  EXPECT_EQ(merged(first, second).devices.device.size(), 2u);
}

TEST(GpuTables, WhatIsWrongWithARecordIsMarkedAndCounted) {
  GpuRank rank(0);
  rank.kernel("no time", 0, 0, 1, 20);
  rank.kernel("no end", gpu(5000), -static_cast<std::int64_t>(gpu(5000)), 1, 21);
  rank.kernel("backward", gpu(6000), -5, 1, 22);
  rank.api_call(gpu(7100), 10, 501, 23);
  rank.kernel("early", gpu(7000), 10, 1, 23);
  const runfile::RunTables run = merged(rank, GpuRank(1));
  EXPECT_THAT(findings(run, "gpu.no-time"), ElementsAre(HasSubstr("2 GPU records have no time")));
  EXPECT_THAT(findings(run, "gpu.end-before-start"), ElementsAre(HasSubstr("1 GPU record has an end")));
  EXPECT_THAT(findings(run, "gpu.before-launch"), ElementsAre(HasSubstr("1 GPU record has a start before")));
  EXPECT_EQ(run.kernels.start_ns[0], runfile::kNoTime) << "what has no time comes first";
  EXPECT_EQ(run.kernels.flags[0], runfile::kWorkNoTime);
  EXPECT_THAT(run.kernels.flags, Contains(runfile::kWorkEndFirst));
  EXPECT_THAT(run.kernels.flags, Contains(runfile::kWorkBeforeLaunch));
}

TEST(GpuTables, WithoutAReadingOfItsClockTheWallClockStandsForIt) {
  test::NcclRecording rank(0, 2);
  rank.lane(1, 0, 13, kStream);
  rank.kernel("gemm", 1'000'002'000, 10, 1, 7);
  test::RunFolder folder;
  folder.add_rank(rank, 0, 1, "n0");
  const runfile::RunTables run = folder.assemble().tables;
  EXPECT_THAT(run.kernels.start_ns, ElementsAre(2000));
  EXPECT_THAT(codes(run), Contains("gpu.clock-fallback"));
}

TEST(GpuTables, SaysWhyGpusWereNotRecorded) {
  GpuRank rank(0);
  spool::GpuCollectorState collector{};
  collector.mode = static_cast<std::uint32_t>(GpuMode::kUnavailable);
  collector.version = 130001;
  collector.note = rank.string("another tool holds CUPTI: nsys");
  rank.state(spool::StateKind::kGpuCollector, collector);
  const runfile::RunTables run = merged(rank, GpuRank(1));
  EXPECT_THAT(findings(run, "gpu.unavailable"), ElementsAre(HasSubstr("another tool holds CUPTI: nsys")));
  EXPECT_EQ(run.processes.gpu_mode[0], runfile::GpuMode::kUnavailable);
  EXPECT_EQ(run.processes.cupti_version[0], 130001u);
  EXPECT_EQ(run.processes.gpu_mode[1], runfile::GpuMode::kMissing);
}

TEST(GpuTables, WorkThatWasLaunchedInTheWindowMayRunAfterIt) {
  GpuRank rank(0);
  rank.segment(0, true, spool::WindowCause::kStep, 1000, 3);
  rank.segment(0, false, spool::WindowCause::kStep, 1900, 3);
  rank.kernel("later", gpu(9000), 10, 1, 30);
  const runfile::RunTables run = merged(rank, GpuRank(1));
  EXPECT_EQ(run.kernels.flags[0], 0) << "launched at 1110";
  EXPECT_EQ(run.kernels.flags[1], runfile::kWorkOutside);
  EXPECT_THAT(codes(run), Contains("gpu.outside-window"));
  ASSERT_EQ(run.segments.process.size(), 1u);
  EXPECT_EQ(run.segments.open_ns[0], 1000);
  EXPECT_EQ(run.segments.close_ns[0], 1900);
  EXPECT_EQ(run.segments.open_step[0], 2);
  EXPECT_EQ(run.segments.open_cause[0], runfile::WindowCause::kStep);
}

TEST(GpuTables, ReplaysAreCallsAndMatchByTheirNumber) {
  const auto rank = [](std::int32_t number, bool opens_by_time) {
    test::NcclRecording recording(number, 2);
    recording.lane(1, 0, 13, kStream);
    if (opens_by_time) recording.segment(0, true, spool::WindowCause::kDelay, 0);
    test::Call captured;
    captured.is_captured = true;
    const auto group_call = recording.group_api(1, 100, 190);
    const auto api = recording.coll_api(captured, group_call, 101, 110);
    const auto launched = recording.launch(kStream, 120, 130);
    const auto plan = recording.group(140, 180);
    recording.coll(captured, api, plan, 150, 160);
    recording.graph_node(60, 0, launched);
    for (std::uint64_t k = 0; k < 2; ++k) {
      recording.kernel("ncclDevKernel_AllReduce", 1'000'001'000 + 100 * k, 50, 1, 70 + k, 60);
    }
    return recording;
  };
  for (const bool opens_by_time : {false, true}) {
    test::RunFolder folder;
    folder.add_rank(rank(0, opens_by_time), 0, 2, "n0");
    folder.add_rank(rank(1, opens_by_time), 1, 2, "n1");
    const runfile::RunTables run = folder.assemble().tables;
    EXPECT_THAT(run.nccl.replay, ElementsAre(runfile::kNoRow, 0, 1, runfile::kNoRow, 0, 1));
    EXPECT_THAT(run.nccl.gpu_dur_ns, ElementsAre(-1, 50, 50, -1, 50, 50));
    EXPECT_THAT(run.nccl.timing, ElementsAre(Timing::kEnqueue, Timing::kCupti, Timing::kCupti, Timing::kEnqueue,
                                             Timing::kCupti, Timing::kCupti));
    if (opens_by_time) {
      EXPECT_EQ(run.collectives.comm.size(), 1u) << "which replay it was is not known";
      EXPECT_THAT(codes(run), Contains("call.replay-unnumbered"));
    } else {
      EXPECT_THAT(run.collectives.replay, ElementsAre(runfile::kNoRow, 0, 1));
      EXPECT_THAT(run.collectives.n_seen, Each(2u));
      EXPECT_THAT(codes(run), Not(Contains("call.repeated")));
    }
  }
}

// A window that opened a second time at 1000, while work of before still ran.
test::NcclRecording in_second_segment() {
  test::NcclRecording recording(0, 1);
  recording.thread(1, 501);
  recording.lane(1, 0, 13, kStream);
  recording.segment(0, true, spool::WindowCause::kProfiler, 0);
  recording.segment(0, false, spool::WindowCause::kProfiler, 500);
  recording.segment(1, true, spool::WindowCause::kProfiler, 1000);
  recording.segment(1, false, spool::WindowCause::kProfiler, 5000);
  return recording;
}

runfile::RunTables alone(const Recording& recording) {
  test::RunFolder folder;
  folder.add_rank(recording, 0, 1, "n0");
  return folder.assemble().tables;
}

TEST(GpuTables, WhatWasLaunchedBeforeASecondSegmentIsNoReplay) {
  test::NcclRecording recording = in_second_segment();
  test::Call captured;
  captured.is_captured = true;
  const auto api = recording.coll_api(captured, recording.group_api(1, 100, 190), 101, 110);
  const auto launched = recording.launch(kStream, 120, 130);
  recording.coll(captured, api, recording.group(140, 180), 150, 160);
  recording.graph_node(60, 0, launched);
  recording.kernel("ncclDevKernel_AllReduce", 1'000'000'900, 200, 1, 70, 60);
  recording.api_call(1'000'001'200, 10, 501, 71);
  recording.kernel("ncclDevKernel_AllReduce", 1'000'001'500, 50, 1, 71, 60);
  const runfile::RunTables run = alone(recording);
  EXPECT_THAT(run.kernels.flags, ElementsAre(runfile::kWorkBeforeWindow, 0));
  EXPECT_THAT(run.nccl.replay, ElementsAre(runfile::kNoRow, 0));
  EXPECT_THAT(run.nccl.gpu_start_ns, ElementsAre(-1, 1500));
}

TEST(GpuTables, WhatWasLaunchedBeforeASecondSegmentIsNoCallsByOrder) {
  test::NcclRecording recording = in_second_segment();
  const auto api = recording.coll_api({}, recording.group_api(1, 1010, 1090), 1020, 1030);
  recording.launch(kStream, 1040, 1050);
  recording.coll({}, api, recording.group(1060, 1080), 1070, 1075);
  recording.kernel("ncclDevKernel_AllReduce", 1'000'001'100, 50, 1, 70);
  recording.api_call(1'000'001'045, 2, 999, 71);  // of a thread of NCCL's
  recording.kernel("ncclDevKernel_AllReduce", 1'000'001'500, 50, 1, 71);
  const runfile::RunTables run = alone(recording);
  EXPECT_THAT(run.nccl.path, ElementsAre(JoinPath::kOrder));
  EXPECT_THAT(run.nccl.gpu_start_ns, ElementsAre(1500));
}

TEST(GpuTables, ReplaysOfTheLostArePlacedButNotMatched) {
  GpuRank lossy(0);
  lossy.drop(Drop::kGpuDropped, 1);
  EXPECT_THAT(codes(merged(lossy, GpuRank(1))), Not(Contains("call.replay-after-loss"))) << "no call is a replay";
  test::NcclRecording recording(0, 1);
  recording.lane(1, 0, 13, kStream);
  recording.drop(Drop::kGpuBuffersFull, 1);
  test::Call captured;
  captured.is_captured = true;
  const auto api = recording.coll_api(captured, recording.group_api(1, 100, 190), 101, 110);
  const auto launched = recording.launch(kStream, 120, 130);
  recording.coll(captured, api, recording.group(140, 180), 150, 160);
  recording.graph_node(60, 0, launched);
  recording.kernel("ncclDevKernel_AllReduce", 1'000'001'000, 50, 1, 70, 60);
  test::RunFolder folder;
  folder.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables run = folder.assemble().tables;
  EXPECT_THAT(run.nccl.gpu_dur_ns, ElementsAre(-1, 50));
  EXPECT_EQ(run.nccl.instance[1], runfile::kNoRow);
  EXPECT_THAT(findings(run, "call.replay-after-loss"), ElementsAre(HasSubstr("lost GPU records")));
}

TEST(GpuTables, GraphsThatNoCallIsKnownOfAreCountedWithTheReason) {
  for (const bool has_plugin : {false, true}) {
    test::NcclRecording recording(0, 1, has_plugin);
    recording.thread(1, 501);
    recording.lane(1, 0, 13, kStream);
    recording.range("ncclAllReduce", 100, 200, 64);  // while the graph was captured
    for (std::uint64_t k = 0; k < 3; ++k) {
      recording.kernel("ncclDevKernel_AllReduce", 1'000'001'000 + 100 * k, 50, 1, 70 + k, 60);
      recording.kernel("gemm", 1'000'001'050 + 100 * k, 50, 1, 70 + k, 61);
    }
    const std::string reason = has_plugin ? "no node of theirs was made" : "and the process had none";
    EXPECT_THAT(
        findings(alone(recording), "call.graph-unjoined"),
        ElementsAre(testing::AllOf(HasSubstr("rank 0 on n0: 3 kernels of NCCL's in CUDA graphs"), HasSubstr(reason))));
    recording.set(spool::IdentityKey::kTrace, "cuda,nvtx");
    EXPECT_THAT(findings(alone(recording), "call.graph-unjoined"), testing::IsEmpty()) << "nobody asked for calls";
  }
}

TEST(GpuTables, GpusThatNobodyAskedForAreSaidToBe) {
  test::NcclRecording recording(0, 1);
  recording.set(spool::IdentityKey::kTrace, "nvtx,nccl");
  runfile::RunTables run = alone(recording);
  EXPECT_EQ(run.attributes.trace, "nvtx,nccl");
  EXPECT_EQ(run.processes.gpu_mode[0], runfile::GpuMode::kNotAsked);
  EXPECT_EQ(run.strings.text(run.processes.gpu_note[0]), "-t nvtx,nccl");
  recording.set(spool::IdentityKey::kTrace, "cuda,nvtx,nccl");
  EXPECT_EQ(alone(recording).processes.gpu_mode[0], runfile::GpuMode::kMissing) << "CUDA may not have been used";
}

TEST(GpuTables, AReplayOfAPartIsPartOfTheReplay) {
  test::NcclRecording recording(0, 2);
  recording.lane(1, 0, 13, kStream);
  recording.range("ncclAlltoAll", 100, 300, 1024);
  test::Call part{spool::NcclFunction::kSend, spool::NcclType::kFloat32, 256};
  part.is_captured = true;
  const auto api = recording.p2p_api(part, recording.group_api(1, 105, 290), 110, 115);
  const auto launched = recording.launch(kStream, 120, 130);
  recording.p2p(part, api, recording.group(140, 280), 150, 160);
  recording.graph_node(60, 0, launched);
  for (std::uint64_t k = 0; k < 2; ++k) {
    recording.kernel("ncclDevKernel_SendRecv", 1'000'001'000 + 100 * k, 50, 1, 70 + k, 60);
  }
  test::RunFolder folder;
  folder.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables run = folder.assemble().tables;
  ASSERT_EQ(run.nccl.replay.size(), 6u) << "the whole and its part, once captured and twice replayed";
  std::size_t parts = 0;
  for (std::size_t row = 0; row < run.nccl.replay.size(); ++row) {
    const std::uint64_t whole = run.nccl.parent[row];
    EXPECT_EQ(whole == runfile::kNoRow, run.nccl.coll[row] == runfile::Coll::kAllToAll);
    if (whole == runfile::kNoRow) continue;
    ++parts;
    EXPECT_EQ(run.nccl.coll[whole], runfile::Coll::kAllToAll);
    EXPECT_EQ(run.nccl.replay[whole], run.nccl.replay[row]);
  }
  EXPECT_EQ(parts, 3u);
  for (const std::uint16_t flags : run.collectives.flags) EXPECT_EQ(flags & runfile::kInstanceGrouped, 0);
}

// Two members of one process, on GPUs 0 and 1, without the plugin.
class TwoMembers : public test::NcclRecording {
 public:
  TwoMembers() : NcclRecording(0, 2, false) {
    for (std::uint32_t i = 0; i < 2; ++i) {
      thread(1 + i, 501 + i);
      lane(1 + i, i, 13, kStream + i);
      comm_range(static_cast<std::int32_t>(1 - i), 2, 10 + 10 * i, kComm, static_cast<std::int32_t>(i));
    }
    for (std::uint64_t s = 0; s < 4; ++s)
      gpu_clock(s * 1'000'000'000, kGpuAhead + static_cast<std::int64_t>(s * 1'000'000'000));
  }
  // A kernel on GPU `device` that thread 1 + `caller` launches at `stamp`.
  void launched(std::uint64_t stamp, std::uint32_t caller, std::uint32_t device) {
    api_call(gpu(stamp), 50, 501 + caller, stamp);
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", gpu(stamp + 500), 100, 1 + device, stamp);
  }
};

TEST(GpuTables, TheKernelsGpuTellsWhichMemberCalled) {
  TwoMembers process;
  for (std::uint32_t i = 0; i < 2; ++i) {
    process.use_thread(1 + i);
    process.counted_range("ncclAllReduce", 1000 + 100 * i, 1090 + 100 * i, 64, 1 + i);
    process.launched(1010 + 100 * i, i, i);
  }
  test::RunFolder run;
  run.add_rank(process, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.nccl.comm_rank, ElementsAre(1, 0));
  EXPECT_THAT(tables.nccl.seq, ElementsAre(0, 0));
  EXPECT_THAT(tables.collectives.n_seen, ElementsAre(2));
  EXPECT_THAT(tables.collectives.last_arrival, ElementsAre(0)) << "the rank on GPU 1";
}

TEST(GpuTables, AGroupForSeveralGpusTellsNoCallsGpu) {
  TwoMembers process;
  process.range("ncclGroupStart", 1000, 1001);
  process.counted_range("ncclAllReduce", 1010, 1011, 64, 1);
  process.counted_range("ncclAllReduce", 1020, 1021, 64, 2);
  process.range("ncclGroupEnd", 1030, 1900);
  process.launched(1100, 0, 0);
  process.launched(1200, 0, 1);
  test::RunFolder run;
  run.add_rank(process, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_EQ(tables.nccl_work.call.size(), 4u) << "each call with each kernel";
  EXPECT_THAT(tables.nccl.device, Each(-1));
  EXPECT_THAT(tables.nccl.gpu_dur_ns, Each(-1)) << "which of the kernels is a call's is not known";
  EXPECT_THAT(tables.nccl.timing, Each(Timing::kEnqueue));
  EXPECT_THAT(tables.nccl.comm_rank, Each(-1));
  EXPECT_THAT(tables.nccl.seq, ElementsAre(0, 0));
}

}  // namespace
}  // namespace jaxprof::assembly

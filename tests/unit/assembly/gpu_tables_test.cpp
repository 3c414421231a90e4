// From spools with GPUs to the tables of a run, and what is said of their records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/contract/session_page.h"
#include "tests/unit/assembly/gpu_rank.h"

namespace jaxprof::assembly {
namespace {

using runfile::JoinPath;
using runfile::Timing;
using test::alone;
using test::codes;
using test::findings;
using test::gpu;
using test::GpuRank;
using test::kStream;
using test::merged;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(GpuTables, GpusThatNobodyAskedForAreSaidToBe) {
  test::NcclRecording recording(0, 1);
  recording.set(spool::IdentityKey::kTrace, "nvtx,nccl");
  runfile::RunTables run = alone(recording);
  EXPECT_EQ(run.attributes.trace, "nvtx,nccl");
  EXPECT_EQ(run.processes.gpu_mode[0], runfile::GpuMode::kNotAsked);
  EXPECT_EQ(run.strings.text(run.processes.gpu_note[0]), "-t nvtx,nccl");
  EXPECT_THAT(findings(run, "gpu.not-asked"), ElementsAre("rank 0 on n0: its GPUs were not recorded, by -t nvtx,nccl"));
  EXPECT_EQ(run.diagnostics.severity.at(0), runfile::Severity::kInfo);
  recording.set(spool::IdentityKey::kTrace, "cuda,nvtx,nccl");
  recording.set(spool::IdentityKey::kCupti, static_cast<std::int64_t>(CuptiPolicy::kAuto));
  run = alone(recording);
  EXPECT_EQ(run.processes.gpu_mode[0], runfile::GpuMode::kMissing) << "CUDA may not have been used";
  EXPECT_THAT(findings(run, "gpu.not-asked"), testing::IsEmpty());
  recording.set(spool::IdentityKey::kCupti, static_cast<std::int64_t>(CuptiPolicy::kOff));
  run = alone(recording);
  EXPECT_EQ(run.processes.gpu_mode[0], runfile::GpuMode::kNotAsked);
  EXPECT_EQ(run.strings.text(run.processes.gpu_note[0]), "--cupti off");
  EXPECT_THAT(findings(run, "gpu.not-asked"), ElementsAre("rank 0 on n0: its GPUs were not recorded, by --cupti off"));
}

}  // namespace
}  // namespace jaxprof::assembly

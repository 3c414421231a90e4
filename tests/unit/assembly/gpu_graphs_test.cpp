// NCCL's calls in CUDA graphs: each replay that was seen is a row, and what is not known is said.
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
using test::GpuRank;
using test::kStream;
using test::merged;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(GpuGraphs, ReplaysAreCallsAndMatchByTheirNumber) {
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

TEST(GpuGraphs, ReplaysOfTheLostArePlacedButNotMatched) {
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

TEST(GpuGraphs, GraphsThatNoCallIsKnownOfAreCountedWithTheReason) {
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

TEST(GpuGraphs, AReplayOfAPartIsPartOfTheReplay) {
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

// A step of training as one graph: of its thousands of nodes one is NCCL's, and only that one is registered.
TEST(GpuGraphs, OfABigGraphOnlyNcclsNodeIsJoined) {
  constexpr std::uint64_t kNodes = 12'000;
  constexpr std::uint64_t kNcclNode = 7'000;
  constexpr std::uint64_t kReplays = 3;
  test::NcclRecording recording(0, 1);
  recording.thread(1, 501);
  recording.lane(1, 0, 13, kStream);
  test::Call captured;
  captured.is_captured = true;
  const auto api = recording.coll_api(captured, recording.group_api(1, 100, 190), 101, 110);
  const auto launched = recording.launch(kStream, 120, 130);
  recording.coll(captured, api, recording.group(140, 180), 150, 160);
  recording.graph_node(kNcclNode, 0, launched);
  const auto start_of = [](std::uint64_t replay, std::uint64_t node) {
    return 1'000'001'000 + replay * 1'000'000 + 10 * node;
  };
  for (std::uint64_t k = 0; k < kReplays; ++k) {
    recording.api_call(start_of(k, 0) - 200, 100, 501, 70 + k);
    for (std::uint64_t node = 1; node <= kNodes; ++node) {
      recording.kernel(node == kNcclNode ? "ncclDevKernel_AllReduce" : "gemm", start_of(k, node), 10, 1, 70 + k, node);
    }
  }
  const runfile::RunTables run = alone(recording);
  ASSERT_EQ(run.kernels.start_ns.size(), kReplays * kNodes);
  for (std::size_t row = 0; row < run.kernels.start_ns.size(); ++row) {
    ASSERT_EQ(run.kernels.api[row], row / kNodes) << "each kernel is of its own graph's launch";
    ASSERT_EQ(run.kernels.graph_node[row], row % kNodes + 1);
  }
  EXPECT_THAT(run.nccl.replay, ElementsAre(runfile::kNoRow, 0, 1, 2));
  EXPECT_THAT(run.nccl_work.kernel, ElementsAre(kNcclNode - 1, kNodes + kNcclNode - 1, 2 * kNodes + kNcclNode - 1));
  EXPECT_THAT(run.nccl_work.path, Each(JoinPath::kGraph));
  EXPECT_THAT(run.nccl.gpu_dur_ns, ElementsAre(-1, 10, 10, 10));
  EXPECT_THAT(findings(run, "call.graph-unjoined"), testing::IsEmpty());
}

}  // namespace
}  // namespace jaxprof::assembly

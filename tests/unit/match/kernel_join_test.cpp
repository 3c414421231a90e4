#include "merge/match/kernel_join.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/match/joined_process.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::match {
namespace {

using test::Call;
using test::gpu;
using test::JoinedProcess;
using test::NcclRecording;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kStream = 0x77;  // of NcclRecording's calls
constexpr const char* kAllReduce = "_Z30ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorage";

// A process on one GPU: thread 1 is tid 501, lane 1 is the stream of its calls.
class JoinRecording : public NcclRecording {
 public:
  explicit JoinRecording(bool has_plugin = true) : NcclRecording(0, 2, has_plugin) {
    thread(kThread, 501);
    lane(1, 0, 13, kStream);
    lane(2, 0, 14, 0x88);
  }

  // A call as NCCL 2.28 makes it at `start`, with its plan; the launch's handle.
  std::uint64_t planned_call(std::uint64_t sequence, std::uint64_t start, std::size_t calls_in_plan = 1) {
    std::vector<std::uint64_t> apis;
    const std::uint64_t group_call = group_api(calls_in_plan > 1 ? 2 : 1, start, start + 90);
    for (std::size_t i = 0; i < calls_in_plan; ++i) {
      apis.push_back(coll_api({}, group_call, start + 1 + i, start + 2 + i));
    }
    const std::uint64_t launched = launch(kStream, start + 20, start + 30);
    const std::uint64_t plan = group(start + 40, start + 80);
    for (std::size_t i = 0; i < calls_in_plan; ++i) {
      Call call;
      call.sequence = sequence + i;
      coll(call, apis[i], plan, start + 50 + i, start + 60 + i);
    }
    return launched;
  }
};

TEST(KernelJoin, TakesWhatTheLaunchMarked) {
  JoinRecording recording;
  const std::uint64_t first = recording.planned_call(0, 100);
  const std::uint64_t second = recording.planned_call(1, 300);
  recording.external(second, 8);
  recording.external(first, 7);
  recording.kernel(kAllReduce, gpu(400), 50, 1, 8);
  recording.kernel(kAllReduce, gpu(200), 50, 1, 7);
  recording.kernel("gemm", gpu(600), 50, 1, 9);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 0 external", "call 1: kernel 1 external"));
}

TEST(KernelJoin, AKernelOfAnAggregatedGroupBelongsToAllItsCalls) {
  JoinRecording recording;
  recording.external(recording.planned_call(0, 100, 3), 7);
  recording.kernel(kAllReduce, gpu(200), 50, 1, 7);
  EXPECT_THAT(JoinedProcess(recording).pairs(),
              ElementsAre("call 0: kernel 0 external", "call 1: kernel 0 external", "call 2: kernel 0 external"));
}

TEST(KernelJoin, ACallMayTakeSeveralKernels) {
  JoinRecording recording;
  const std::uint64_t launched = recording.planned_call(0, 100);
  recording.external(launched, 7);
  recording.external(launched, 8);
  recording.kernel(kAllReduce, gpu(200), 50, 1, 7);
  recording.kernel(kAllReduce, gpu(260), 50, 1, 8);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 0 external", "call 0: kernel 1 external"));
}

TEST(KernelJoin, WithoutAMarkTheLaunchesBracketOnItsThreadTells) {
  JoinRecording recording;
  recording.planned_call(0, 100);
  recording.planned_call(1, 300);
  recording.api_call(gpu(321), 4, 501, 8);
  recording.api_call(gpu(121), 4, 501, 7);
  recording.api_call(gpu(122), 4, 999, 9);  // of another thread
  recording.kernel(kAllReduce, gpu(400), 50, 1, 8);
  recording.kernel(kAllReduce, gpu(200), 50, 1, 7);
  recording.kernel(kAllReduce, gpu(500), 50, 1, 9);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 0 scope", "call 1: kernel 1 scope"));
}

TEST(KernelJoin, ARangeAloneTellsWhatItsCallLaunched) {
  JoinRecording recording(false);
  recording.range("ncclAllReduce", 100, 200, 4096);
  recording.api_call(gpu(150), 4, 501, 7);
  recording.api_call(gpu(160), 4, 501, 8);
  recording.kernel(kAllReduce, gpu(250), 50, 1, 7);
  recording.kernel("fill", gpu(240), 5, 1, 8);  // not of NCCL
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 1 scope"));
}

TEST(KernelJoin, AGroupLaunchesWhereItEndsEachCallOnItsStream) {
  JoinRecording recording;
  recording.range("ncclGroupStart", 90, 95);
  recording.range("ncclAllReduce", 100, 110, 4096);
  recording.coll_api({}, 0, 101, 105);  // on stream 0x77
  recording.range("ncclAllGather", 120, 130, 4096);
  recording.range("ncclGroupEnd", 140, 200);
  recording.api_call(gpu(150), 4, 501, 7);
  recording.api_call(gpu(160), 4, 501, 8);
  recording.kernel(kAllReduce, gpu(250), 50, 1, 7);
  recording.kernel("ncclDevKernel_AllGather_RING_LL", gpu(260), 50, 2, 8);
  EXPECT_THAT(JoinedProcess(recording).pairs(),
              ElementsAre("call 0: kernel 0 scope", "call 1: kernel 0 scope", "call 1: kernel 1 scope"))
      << "of the AllGather nothing tells the stream, so that it may be either kernel";
}

// One thread's group for several GPUs is launched as one.
TEST(KernelJoin, AGroupForSeveralGpusGivesEachCallWhatRanOnItsOwn) {
  constexpr std::uint64_t kOtherComm = 0x123456;
  JoinRecording recording(false);
  recording.lane(3, 1, 13, 0x99);
  recording.comm_range(0, 2, 10, NcclRecording::kComm, 0);
  recording.comm_range(1, 2, 20, kOtherComm, 1);
  recording.range("ncclGroupStart", 90, 95);
  recording.range("ncclAllReduce", 100, 110, 4096);
  recording.range("ncclAllReduce", 120, 130, 4096, kOtherComm);
  recording.range("ncclGroupEnd", 140, 200);
  recording.api_call(gpu(150), 4, 501, 7);
  recording.api_call(gpu(160), 4, 501, 8);
  recording.kernel(kAllReduce, gpu(250), 50, 1, 7);
  recording.kernel(kAllReduce, gpu(260), 50, 3, 8);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 0 scope", "call 1: kernel 1 scope"));
}

TEST(KernelJoin, ARangeWithoutAnEndHasEndedByTheNextOneOfItsThread) {
  JoinRecording recording(false);
  recording.open_range("ncclAllReduce", 100);  // whose pop is lost
  recording.api_call(gpu(150), 4, 501, 7);
  recording.api_call(gpu(250), 4, 501, 8);
  recording.kernel(kAllReduce, gpu(260), 50, 1, 7);
  recording.kernel(kAllReduce, gpu(320), 50, 1, 8);
  JoinRecording killed = recording;
  recording.push(NcclRecording::kThread, 1, 0, "ncclAllReduce", 200);
  recording.pop(NcclRecording::kThread, 1, 0, 300);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 0 scope", "call 1: kernel 1 scope"));
  EXPECT_THAT(JoinedProcess(killed).pairs(), ElementsAre("call 0: kernel 0 scope", "call 0: kernel 1 scope"))
      << "the process's end is the range's";
}

TEST(KernelJoin, BehindALostEndCopiesMayBeAnybodys) {
  JoinRecording recording(false);
  recording.open_range("ncclAllReduce", 100);
  recording.api_call(gpu(150), 4, 501, 7);
  recording.copy(gpu(220), 10, 1, 7);
  EXPECT_THAT(JoinedProcess(recording).pairs(), IsEmpty());
}

TEST(KernelJoin, CopiesStandForKernelsWhereThereAreNone) {
  JoinRecording recording(false);
  recording.range("ncclAllReduce", 100, 200, 4096);  // of a communicator of one
  recording.api_call(gpu(150), 4, 501, 7);
  recording.copy(gpu(220), 10, 1, 7);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: copy 0 scope"));
}

TEST(KernelJoin, CopyEnginesCarryOutACollective) {
  JoinRecording recording;
  const auto api = recording.coll_api({}, recording.group_api(1, 100, 190), 101, 105);
  Call call;
  call.sequence = 4;
  const std::uint64_t handle = recording.ce_coll(call, api, 110, 180);
  recording.external(handle, 7);
  recording.copy(gpu(220), 10, 1, 7);
  recording.copy(gpu(225), 10, 1, 7);
  const JoinedProcess process(recording);
  ASSERT_EQ(process.calls().size(), 1u);
  EXPECT_EQ(process.calls()[0].algo, runfile::Algo::kCe);
  EXPECT_EQ(process.calls()[0].sequence, 4u);
  EXPECT_EQ(process.calls()[0].bytes, 4096u);
  EXPECT_THAT(process.pairs(), ElementsAre("call 0: copy 0 external", "call 0: copy 1 external"));
}

// What is captured runs as often as its graph is launched.
TEST(KernelJoin, EachRecordOfAGraphNodeIsAReplayOfItsCall) {
  JoinRecording recording;
  Call captured;
  captured.is_captured = true;
  const auto group_call = recording.group_api(1, 100, 190);
  recording.coll_api(captured, group_call, 101, 110);
  const std::uint64_t launched = recording.launch(kStream, 120, 130);
  recording.graph_node(50, 0, launched);
  recording.graph_node(60, 50, 0);  // the executable graph's
  for (std::uint64_t replay = 0; replay < 3; ++replay) {
    recording.kernel(kAllReduce, gpu(1000 + 100 * replay), 50, 1, 70 + replay, 60);
  }
  EXPECT_THAT(JoinedProcess(recording).pairs(),
              ElementsAre("replay 0 of call 0: kernel 0 graph", "replay 1 of call 0: kernel 1 graph",
                          "replay 2 of call 0: kernel 2 graph"));
}

TEST(KernelJoin, AReplayThatThePluginToldOfIsThatRow) {
  JoinRecording recording;
  Call captured;
  captured.is_captured = true;
  captured.sequence = 9;
  const auto api = recording.coll_api(captured, recording.group_api(1, 100, 190), 101, 110);
  const std::uint64_t launched = recording.launch(kStream, 120, 130);
  recording.graph_node(60, 0, launched);
  recording.coll(captured, api, 900, 1000, 1010, 7);  // CUDA's thread, when the graph is launched
  recording.coll(captured, api, 901, 2000, 2010, 7);
  recording.kernel(kAllReduce, gpu(1100), 50, 1, 70, 60);
  recording.kernel(kAllReduce, gpu(2100), 50, 1, 71, 60);
  const JoinedProcess process(recording);
  ASSERT_EQ(process.calls().size(), 3u);
  EXPECT_EQ(process.calls()[0].replay, kNoAmount) << "the capture";
  EXPECT_EQ(process.calls()[1].capture, 0u);
  EXPECT_EQ(process.calls()[2].replay, 1u);
  EXPECT_THAT(process.pairs(), ElementsAre("call 1: kernel 0 graph", "call 2: kernel 1 graph"));
}

TEST(KernelJoin, WithoutCallsOfCudaTheOrderOnTheStreamTells) {
  JoinRecording recording;
  recording.planned_call(0, 100);
  recording.planned_call(1, 300);
  recording.kernel(kAllReduce, gpu(50), 40, 1, 6);  // from before the recording began
  recording.kernel(kAllReduce, gpu(200), 50, 1, 7);
  recording.kernel(kAllReduce, gpu(400), 50, 1, 8);
  EXPECT_THAT(JoinedProcess(recording).pairs(), ElementsAre("call 0: kernel 1 order", "call 1: kernel 2 order"));
}

TEST(KernelJoin, AnOrderThatCannotBeIsNone) {
  JoinRecording early;
  early.planned_call(0, 100);
  early.planned_call(1, 300);
  early.kernel(kAllReduce, gpu(200), 50, 1, 7);
  early.kernel(kAllReduce, gpu(290), 5, 1, 8);  // before the second call
  EXPECT_THAT(JoinedProcess(early).pairs(), IsEmpty());

  JoinRecording many;
  many.planned_call(0, 100);
  many.kernel(kAllReduce, gpu(200), 50, 1, 7);
  many.kernel(kAllReduce, gpu(300), 50, 1, 8);
  EXPECT_THAT(JoinedProcess(many).pairs(), IsEmpty()) << "which of the two is it?";
}

TEST(KernelJoin, ACallHasTheWorkOfItsParts) {
  JoinRecording recording;
  recording.range("ncclAlltoAll", 100, 300, 1024);
  const std::uint64_t group_call = recording.group_api(2, 105, 290);
  const auto send = recording.p2p_api({spool::NcclFunction::kSend}, group_call, 110, 120);
  const auto recv = recording.p2p_api({spool::NcclFunction::kRecv}, group_call, 130, 140);
  const std::uint64_t launched = recording.launch(kStream, 200, 210);
  const std::uint64_t plan = recording.group(220, 280);
  recording.p2p({spool::NcclFunction::kSend}, send, plan, 230, 235);
  recording.p2p({spool::NcclFunction::kRecv}, recv, plan, 240, 245);
  recording.external(launched, 7);
  recording.kernel("ncclDevKernel_SendRecv", gpu(400), 50, 1, 7);
  EXPECT_THAT(JoinedProcess(recording).pairs(),
              ElementsAre("call 0: kernel 0 external", "call 1: kernel 0 external", "call 2: kernel 0 external"));
}

TEST(KernelJoin, KnowsNcclsKernelsByTheirNames) {
  for (const char* name : {kAllReduce, "ncclKernel_Generic", "ncclSymDevKernel_AllGather_ST", "ncclSymkDevKernel_X",
                           "_Z15oneRankReduceXX"}) {
    EXPECT_TRUE(is_nccl_kernel(name)) << name;
  }
  for (const char* name : {"", "gemm", "myncclthing", "ncclDev"}) EXPECT_FALSE(is_nccl_kernel(name)) << name;
}

}  // namespace
}  // namespace jaxprof::match

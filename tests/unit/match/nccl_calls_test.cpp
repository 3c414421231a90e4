#include "merge/match/nccl_calls.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/match/loaded_process.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using runfile::NcclSource;
using spool::NcclFunction;
using spool::NcclType;
using test::Call;
using test::NcclRecording;

std::vector<NcclCall> calls_of(const NcclRecording& recording) {
  return test::calls_of(recording).calls;
}

TEST(NcclCalls, PluginAndRangeMakeOneRow) {
  NcclRecording recording(1, 4);
  recording.range("ncclAllReduce", 100, 200, 4096);
  const auto api = recording.coll_api({}, 0, 110, 190);
  Call call;
  call.sequence = 17;
  recording.coll(call, api, 0, 150, 160);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  const NcclCall& row = calls[0];
  EXPECT_EQ(row.source, NcclSource::kNcclPluginAndNvtx);
  EXPECT_EQ(row.coll, Coll::kAllReduce);
  EXPECT_EQ(row.api, "ncclAllReduce");
  EXPECT_EQ(row.comm_hash, NcclRecording::kComm);
  EXPECT_EQ(row.comm_rank, 1);
  EXPECT_EQ(row.sequence, 17u);
  EXPECT_FALSE(row.is_sequence_counted);
  EXPECT_EQ(row.dtype, runfile::Dtype::kF32);
  EXPECT_EQ(row.redop, runfile::Redop::kSum);
  EXPECT_EQ(row.algo, runfile::Algo::kRing);
  EXPECT_EQ(row.proto, runfile::Proto::kSimple);
  EXPECT_EQ(row.channels, 4);
  EXPECT_EQ(row.count, 1024u);
  EXPECT_EQ(row.bytes, 4096u);
  EXPECT_EQ(row.stream, 0x77u);
  EXPECT_EQ(row.group, kNoAmount);
  EXPECT_EQ(row.enqueue_start, 100u) << "of the range, which is around all";
  EXPECT_EQ(row.enqueue_end, 200u);
}

TEST(NcclCalls, ThePluginAloneMakesTheRow) {
  NcclRecording recording;
  const auto api = recording.coll_api({}, 0, 110, 190);
  recording.coll({}, api, 0, 150, 160);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].source, NcclSource::kNcclPlugin);
  EXPECT_EQ(calls[0].api, "");
  EXPECT_EQ(calls[0].bytes, 4096u);
  EXPECT_EQ(calls[0].redop, runfile::Redop::kMissing);
  EXPECT_EQ(calls[0].enqueue_start, 110u);
  EXPECT_EQ(calls[0].enqueue_end, 190u);
}

TEST(NcclCalls, TheRangeAloneMakesTheRowAndIsCounted) {
  NcclRecording recording(0, 2, false);
  recording.comm_range(3, 8, 10);
  for (std::uint64_t i = 0; i < 3; ++i) recording.range("ncclAllReduce", 100 + 20 * i, 110 + 20 * i, 512);
  recording.range("ncclAllGather", 300, 310, 512);
  recording.range("ncclSend", 400, 410, 512);
  const test::LoadedProcess process(recording);
  const NcclCalls all = process.calls();
  ASSERT_EQ(all.calls.size(), 5u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all.calls[i].source, NcclSource::kNvtx);
    EXPECT_EQ(all.calls[i].sequence, i);
    EXPECT_TRUE(all.calls[i].is_sequence_counted);
    EXPECT_EQ(all.calls[i].dtype, runfile::Dtype::kMissing);
    EXPECT_EQ(all.calls[i].count, kNoAmount);
    EXPECT_EQ(all.calls[i].bytes, 512u);
    EXPECT_EQ(all.calls[i].comm_rank, 3);
  }
  EXPECT_EQ(all.calls[3].sequence, 0u) << "each function is numbered by itself";
  EXPECT_EQ(all.calls[4].sequence, kNoAmount) << "sends are not collective";
  ASSERT_EQ(all.comms.size(), 1u);
  EXPECT_EQ(all.comms[0].rank, 3);
  EXPECT_EQ(all.comms[0].rank_count, 8);
}

TEST(NcclCalls, AWholeEnqueueOnAnotherThreadStillJoins) {
  NcclRecording recording;
  recording.range("ncclAllReduce", 100, 200, 4096);
  const auto api = recording.coll_api({}, 0, 110, 190);
  recording.coll({}, api, 0, 500, 510, 9);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].source, NcclSource::kNcclPluginAndNvtx);
  EXPECT_EQ(calls[0].thread, NcclRecording::kThread);
}

TEST(NcclCalls, AnApiEventThatWasNeverEnqueuedIsARow) {
  NcclRecording recording;  // a symmetric kernel, or a communicator of one
  recording.range("ncclAllReduce", 100, 200, 4096);
  recording.coll_api({}, 0, 110, 190);
  recording.coll_api({}, 0, 310, 390);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].source, NcclSource::kNcclPluginAndNvtx);
  EXPECT_EQ(calls[1].source, NcclSource::kNcclPlugin);
  EXPECT_EQ(calls[1].bytes, 4096u);
  EXPECT_EQ(calls[0].sequence, 0u);
  EXPECT_EQ(calls[1].sequence, 1u);
  EXPECT_TRUE(calls[1].is_sequence_counted);
}

TEST(NcclCalls, CallsBesideNumberedOnesStayWithoutANumber) {
  NcclRecording recording;
  recording.whole_call({}, "ncclAllReduce", 100);
  recording.coll_api({}, 0, 310, 390);  // not enqueued
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].sequence, 0u);
  EXPECT_EQ(calls[1].sequence, kNoAmount);
}

TEST(NcclCalls, AReplayUnderAStaleParentIsARowOfItsOwn) {
  NcclRecording recording;
  Call captured;
  captured.is_captured = true;
  recording.range("ncclAllReduce", 100, 200, 4096);
  const auto api = recording.coll_api(captured, 0, 110, 190);
  recording.coll(captured, api, 0, 150, 160);
  recording.coll(captured, api, 0, 5000, 5010, 7);  // the graph's launch, on CUDA's thread
  recording.coll(captured, api, 0, 6000, 6010, 7);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].source, NcclSource::kNcclPluginAndNvtx);
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(calls[i].source, NcclSource::kNcclPlugin);
    EXPECT_EQ(calls[i].enqueue_start, 4000 + 1000 * i);
    EXPECT_EQ(calls[i].thread, 7u);
    EXPECT_EQ(calls[i].bytes, 4096u);
    EXPECT_TRUE(calls[i].is_captured);
  }
}

TEST(NcclCalls, CapturedSendsAreCountedByPeer) {
  NcclRecording recording;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Call send;
    send.function = NcclFunction::kSend;
    send.is_captured = true;
    send.peer = i == 1 ? 2 : 1;
    const std::uint64_t at = 1000 * i;
    recording.peer_range("ncclSend", at + 100, at + 200, 4096, send.peer);
    recording.p2p(send, recording.p2p_api(send, 0, at + 110, at + 190), 0, at + 150, at + 160);
  }
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].capture_number, 0u);
  EXPECT_EQ(calls[1].capture_number, 0u) << "the first to its peer";
  EXPECT_EQ(calls[2].capture_number, 1u);
}

TEST(NcclCalls, ALostParentLeavesWhatTheEventItselfSays) {
  NcclRecording recording;
  recording.coll({NcclFunction::kBroadcast, NcclType::kInt8, 77, 3, 1}, 0, 0, 150, 160);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].coll, Coll::kBroadcast);
  EXPECT_EQ(calls[0].bytes, 77u);
  EXPECT_EQ(calls[0].dtype, runfile::Dtype::kMissing) << "these are bytes, whatever the type";
  EXPECT_EQ(calls[0].count, kNoAmount);
  EXPECT_EQ(calls[0].root, 1);
  EXPECT_EQ(calls[0].sequence, 3u);
  EXPECT_EQ(calls[0].stream, 0u);
}

TEST(NcclCalls, AlltoAllIsOneRowWithItsPartsAsChildren) {
  NcclRecording recording(0, 4);
  recording.range("ncclAlltoAll", 100, 300, 1024);
  for (std::int32_t peer = 0; peer < 4; ++peer) {
    const auto at = static_cast<std::uint64_t>(110 + 20 * peer);
    for (const NcclFunction function : {NcclFunction::kSend, NcclFunction::kRecv}) {
      Call part{function, NcclType::kFloat32, 256};
      part.peer = peer;
      const auto api = recording.p2p_api(part, 0, at, at + 5);
      recording.p2p(part, api, 0, at + 200, at + 205);
    }
  }
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 9u);
  EXPECT_EQ(calls[0].coll, Coll::kAllToAll);
  EXPECT_EQ(calls[0].source, NcclSource::kNvtx);
  EXPECT_EQ(calls[0].bytes, 1024u);
  EXPECT_EQ(calls[0].parent, kNoCall);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].parent, 0u);
    EXPECT_TRUE(calls[i].coll == Coll::kSend || calls[i].coll == Coll::kRecv);
    EXPECT_EQ(calls[i].peer, static_cast<std::int32_t>((i - 1) / 2));
  }
}

TEST(NcclCalls, ASendOfItsOwnHasNoParent) {
  NcclRecording recording;
  recording.range("ncclSend", 100, 200, 1024);
  Call send{NcclFunction::kSend, NcclType::kFloat32, 256};
  send.peer = 1;
  const auto api = recording.p2p_api(send, 0, 110, 120);
  recording.p2p(send, api, 0, 130, 140);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].parent, kNoCall);
  EXPECT_EQ(calls[0].peer, 1);
  EXPECT_EQ(calls[0].bytes, 1024u);
}

TEST(NcclCalls, ExplicitGroupsAreNumberedAlikeFromBothSources) {
  NcclRecording ranges(0, 2, false);
  ranges.range("ncclGroupStart", 10, 11);
  ranges.range("ncclAllReduce", 12, 13, 64);
  ranges.range("ncclAllReduce", 14, 15, 64);
  ranges.range("ncclGroupEnd", 16, 20);
  ranges.range("ncclAllReduce", 30, 31, 64);
  auto calls = calls_of(ranges);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].group, 1u);
  EXPECT_EQ(calls[1].group, 1u);
  EXPECT_EQ(calls[2].group, kNoAmount);

  NcclRecording plugin;
  const auto group = plugin.group_api(2, 10, 20);
  plugin.coll_api({}, group, 12, 13);
  plugin.coll_api({}, group, 14, 15);
  plugin.coll_api({}, plugin.group_api(1, 29, 32), 30, 31);
  calls = calls_of(plugin);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].group, calls[1].group);
  EXPECT_NE(calls[0].group, kNoAmount);
  EXPECT_EQ(calls[2].group, kNoAmount) << "every call has a group of depth 1";
}

TEST(NcclCalls, NestedGroupsAreOneAndThreadsDoNotMix) {
  NcclRecording recording(0, 2, false);
  recording.use_thread(1);
  recording.range("ncclGroupStart", 10, 11);
  recording.range("ncclGroupStart", 12, 13);
  recording.use_thread(2);
  recording.range("ncclGroupStart", 14, 15);
  recording.range("ncclAllGather", 16, 17, 64);
  recording.use_thread(1);
  recording.range("ncclGroupEnd", 18, 19);
  recording.range("ncclAllReduce", 20, 21, 64);
  recording.range("ncclGroupEnd", 22, 23);
  recording.use_thread(2);
  recording.range("ncclGroupEnd", 24, 25);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].group, 2u);
  EXPECT_EQ(calls[1].group, 1u) << "the group that its own thread opened";
}

TEST(NcclCalls, CountsTheCallsOfAKernelPlan) {
  NcclRecording recording;
  for (std::uint64_t i = 0; i < 3; ++i) {
    Call call;
    call.sequence = i;
    recording.coll(call, recording.coll_api(call, 0, 10 + i, 11 + i), i < 2 ? 900 : 901, 100 + i, 110 + i);
  }
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].calls_in_plan, 2u);
  EXPECT_EQ(calls[1].calls_in_plan, 2u);
  EXPECT_EQ(calls[2].calls_in_plan, 1u);
}

TEST(NcclCalls, AnUnknownTypeTakesItsBytesFromTheRange) {
  NcclRecording recording;
  recording.range("ncclAllReduce", 100, 200, 1024);  // ncclUint8 is "Unknown" to NCCL 2.28
  Call call{NcclFunction::kAllReduce, NcclType::kUnknown, 1024};
  recording.coll(call, recording.coll_api(call, 0, 110, 190), 0, 150, 160);
  recording.coll(call, recording.coll_api(call, 0, 310, 390), 0, 350, 360);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].bytes, 1024u);
  EXPECT_EQ(calls[0].dtype, runfile::Dtype::kUnknown);
  EXPECT_EQ(calls[1].bytes, kNoAmount) << "without a range nothing tells the width";
}

TEST(NcclCalls, ARangeOfAnotherFunctionIsNotClaimed) {
  NcclRecording recording;
  recording.range("ncclAllGather", 100, 200, 64);
  recording.coll_api({}, 0, 110, 190);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].coll, Coll::kAllGather);
  EXPECT_EQ(calls[0].source, NcclSource::kNvtx);
  EXPECT_EQ(calls[1].coll, Coll::kAllReduce);
  EXPECT_EQ(calls[1].source, NcclSource::kNcclPlugin);
}

TEST(NcclCalls, OtherDomainsAreNotNcclsWhateverTheySay) {
  NcclRecording recording;
  recording.domain(5, "user");
  recording.push(1, 5, 0, "ncclAllReduce", 10);
  recording.pop(1, 5, 0, 20);
  EXPECT_TRUE(calls_of(recording).empty());
}

TEST(NcclCalls, AProcessMayHoldSeveralMembers) {
  NcclRecording recording(0, 2);
  recording.communicator(2, NcclRecording::kComm, 1, 2);
  recording.coll({}, 0, 0, 100, 110);
  recording.event(2, spool::EventKind::kNcclStart, static_cast<std::uint32_t>(spool::NcclEvent::kColl), 105,
                  {2ULL << 36 | 1, 2, 0, 0, spool::pack(spool::NcclCodes{NcclFunction::kAllReduce}), 1024, 0, 0});
  const NcclCalls all = test::calls_of(recording);
  ASSERT_EQ(all.calls.size(), 2u);
  EXPECT_EQ(all.calls[0].comm_rank, 0);
  EXPECT_EQ(all.calls[1].comm_rank, 1);
  ASSERT_EQ(all.comms.size(), 2u);
  EXPECT_EQ(all.comms[0].rank, 0);
  EXPECT_EQ(all.comms[1].rank, 1);
}

TEST(NcclCalls, SeveralMembersWithoutAPluginCannotBeNumbered) {
  NcclRecording recording(0, 2, false);
  recording.comm_range(0, 2, 10);
  recording.comm_range(1, 2, 20);
  recording.range("ncclAllReduce", 30, 40, 64);
  const NcclCalls all = test::calls_of(recording);
  EXPECT_EQ(all.comms.size(), 2u);
  EXPECT_EQ(all.calls.at(0).sequence, kNoAmount);
  EXPECT_EQ(all.calls.at(0).comm_rank, -1);
}

TEST(NcclCalls, CommunicatorsOfOldNcclAreUnknown) {
  NcclRecording recording(0, 2, false);
  recording.range("ncclAllReduce", 10, 20, 64, 0);  // before 2.25 the payload has no communicator
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_FALSE(calls[0].comm_hash);
  EXPECT_EQ(calls[0].sequence, kNoAmount);
}

}  // namespace
}  // namespace jaxprof::match

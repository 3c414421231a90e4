// Calls in explicit groups as the plugin's interface tells them up to version 4: no event names the API call.
#include "merge/match/grouped_events.h"

#include <gtest/gtest.h>

#include "tests/unit/match/loaded_process.h"
#include "tests/unit/match/nccl_recording.h"

namespace jaxprof::match {
namespace {

using runfile::NcclSource;
using spool::NcclFunction;
using spool::NcclType;
using test::Call;
using test::NcclRecording;

std::vector<NcclCall> calls_of(const NcclRecording& recording) {
  return test::calls_of(recording).calls;
}

Call all_reduce(std::uint64_t count, std::uint64_t sequence) {
  Call call;
  call.count = count;
  call.sequence = sequence;
  return call;
}

Call to_peer(NcclFunction function, std::int32_t peer, std::uint64_t count = 16) {
  Call call{function, NcclType::kFloat32, count};
  call.peer = peer;
  return call;
}

TEST(GroupedEvents, ACallOfAGroupIsOneRowWithWhatBothTell) {
  NcclRecording recording;
  recording.range("ncclGroupStart", 10, 11);
  recording.range("ncclAllReduce", 20, 21, 64);
  recording.range("ncclAllReduce", 30, 31, 64);
  const auto plan = recording.group(45, 60);
  recording.coll(all_reduce(16, 7), plan, plan, 50, 51);
  recording.coll(all_reduce(16, 8), plan, plan, 52, 53);
  recording.range("ncclGroupEnd", 40, 70);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(calls[i].source, NcclSource::kNcclPluginAndNvtx);
    EXPECT_EQ(calls[i].api, "ncclAllReduce");
    EXPECT_EQ(calls[i].redop, runfile::Redop::kSum);
    EXPECT_EQ(calls[i].bytes, 64u);
    EXPECT_EQ(calls[i].sequence, 7 + i);
    EXPECT_EQ(calls[i].algo, runfile::Algo::kRing);
    EXPECT_EQ(calls[i].enqueue_start, 20 + 10 * i) << "where it was called";
    EXPECT_EQ(calls[i].group, 1u);
    EXPECT_EQ(calls[i].plan, plan);
    EXPECT_EQ(calls[i].launch_start, 40u);
    EXPECT_EQ(calls[i].launch_end, 70u);
  }
}

TEST(GroupedEvents, NcclOrdersAGroupBySize) {
  NcclRecording recording;
  recording.range("ncclGroupStart", 10, 11);
  recording.range("ncclAllReduce", 20, 21, 64);
  recording.range("ncclAllReduce", 30, 31, 4096);
  recording.range("ncclAllReduce", 40, 41, 64);
  recording.coll(all_reduce(1024, 0), 0, 0, 60, 61);
  recording.coll(all_reduce(16, 1), 0, 0, 62, 63);
  recording.coll(all_reduce(16, 2), 0, 0, 64, 65);
  recording.range("ncclGroupEnd", 50, 70);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].sequence, 1u);
  EXPECT_EQ(calls[1].sequence, 0u);
  EXPECT_EQ(calls[2].sequence, 2u);
}

TEST(GroupedEvents, SendsAndReceivesMeetByPeer) {
  NcclRecording recording;
  recording.range("ncclGroupStart", 10, 11);
  recording.peer_range("ncclSend", 20, 21, 64, 1);
  recording.peer_range("ncclRecv", 30, 31, 64, 2);
  recording.peer_range("ncclSend", 40, 41, 64, 3);
  recording.p2p(to_peer(NcclFunction::kSend, 3), 0, 0, 60, 61);
  recording.p2p(to_peer(NcclFunction::kSend, 1), 0, 0, 62, 63);
  recording.p2p(to_peer(NcclFunction::kRecv, 2), 0, 0, 64, 65);
  recording.range("ncclGroupEnd", 50, 70);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].enqueued & 0xff, 2u) << "the second event";
  EXPECT_EQ(calls[1].enqueued & 0xff, 3u);
  EXPECT_EQ(calls[2].enqueued & 0xff, 1u);
}

TEST(GroupedEvents, WhatOneSideDoesNotTellPartsNothingButComesLast) {
  NcclRecording recording;
  recording.range("ncclGroupStart", 10, 11);
  recording.range("ncclAllReduce", 20, 21, 16, 0);  // NCCL up to 2.24: no communicator
  recording.range("ncclAllReduce", 30, 31, 64);
  Call bytes_unknown = all_reduce(16, 0);
  bytes_unknown.type = NcclType::kUnknown;
  recording.coll(bytes_unknown, 0, 0, 60, 61);
  recording.coll(all_reduce(16, 1), 0, 0, 62, 63);
  recording.range("ncclGroupEnd", 50, 70);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].sequence, 0u);
  EXPECT_EQ(calls[0].comm_hash, NcclRecording::kComm);
  EXPECT_EQ(calls[1].sequence, 1u);
}

TEST(GroupedEvents, OtherCallsAreNotMistakenForTheGroups) {
  NcclRecording recording;
  recording.range("ncclGroupStart", 10, 11);
  recording.range("ncclAllReduce", 20, 21, 64);
  recording.range("ncclGroupStart", 30, 31);
  recording.range("ncclGroupEnd", 32, 33);             // the inner one launches nothing
  recording.coll(all_reduce(32, 0), 0, 0, 60, 61);     // another size
  recording.coll(all_reduce(16, 1), 0, 0, 62, 63, 9);  // another thread
  recording.coll(all_reduce(16, 2), 0, 0, 90, 91);     // after the group
  recording.range("ncclGroupEnd", 50, 70);
  const auto calls = calls_of(recording);
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].source, NcclSource::kNvtx);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(calls[i].source, NcclSource::kNcclPlugin);
}

}  // namespace
}  // namespace jaxprof::match

// Each version of NCCL's profiler interface, from the bytes of its descriptors to the events of a spool.
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::nccl {
namespace {

namespace field = spool::nccl_field;
using spool::EventKind;
using spool::NcclEvent;
using test::ChildRun;
using test::ThreadEvent;

// The starts of a spool by type; each type once.
std::map<NcclEvent, spool::Event> starts_of(const rundir::SpoolTrace& trace) {
  std::map<NcclEvent, spool::Event> starts;
  for (const ThreadEvent& e : test::events_of(trace)) {
    if (e.event.kind != EventKind::kNcclStart) continue;
    EXPECT_TRUE(starts.emplace(static_cast<NcclEvent>(e.event.id), e.event).second);
  }
  return starts;
}

spool::NcclCodes codes_of(const spool::Event& event, std::size_t at) {
  return spool::unpack_nccl_codes(event.fields[at]);
}

class EveryVersion : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    ASSERT_EQ(child_.run(JAXPROF_CHILD, "v" + std::to_string(version())), 0);
    EXPECT_EQ(child_.reported("finalize"), 0);
    EXPECT_EQ(child_.all_drops(), 0u);
  }
  int version() const { return GetParam(); }
  ChildRun child_;
};

TEST_P(EveryVersion, AsksForTheEventsThatItKnows) {
  EXPECT_EQ(child_.reported("mask"), version() <= 4 ? 0x7 : version() == 5 ? 0xF06 : 0x1F06);
  EXPECT_EQ(child_.slot().nccl_api.load(), static_cast<std::uint32_t>(version()));
  const std::size_t kinds = version() <= 4 ? 3 : version() == 5 ? 7 : 8;
  EXPECT_EQ(starts_of(child_.trace()).size(), kinds);
}

TEST_P(EveryVersion, TellsTheCommunicator) {
  const rundir::SpoolTrace trace = child_.trace();
  ASSERT_EQ(trace.communicators().size(), 1u);
  const rundir::Communicator& communicator = trace.communicators()[0];
  EXPECT_EQ(communicator.hash, 0xabcdef0123456789u);
  EXPECT_EQ(communicator.name, "world");
  EXPECT_EQ(communicator.rank, 3);
  EXPECT_EQ(communicator.rank_count, version() <= 3 ? -1 : 8) << "not told up to version 3";
  EXPECT_EQ(communicator.node_count, version() <= 3 ? -1 : 2);
  for (const auto& [event, start] : starts_of(trace)) {
    EXPECT_EQ(start.fields[field::kCommunicator], communicator.number) << static_cast<int>(event);
  }
}

TEST_P(EveryVersion, TellsACollective) {
  const rundir::SpoolTrace trace = child_.trace();
  auto starts = starts_of(trace);
  const spool::Event& coll = starts.at(NcclEvent::kColl);
  EXPECT_EQ(coll.fields[field::kCollSequence], 77u);
  EXPECT_EQ(coll.fields[field::kCollCount], 4096u);
  EXPECT_EQ(coll.fields[field::kCollRoot], 2u);
  EXPECT_EQ(coll.fields[field::kCollGroup], starts.at(NcclEvent::kGroup).fields[field::kHandle]);
  const spool::NcclCodes codes = codes_of(coll, field::kCollCodes);
  EXPECT_EQ(codes.function, spool::NcclFunction::kAllReduce);
  EXPECT_EQ(codes.type, spool::NcclType::kFloat32);
  EXPECT_EQ(codes.algorithm, spool::NcclAlgorithm::kRing);
  EXPECT_EQ(codes.protocol, spool::NcclProtocol::kSimple);
  EXPECT_EQ(codes.channels, 6);
  EXPECT_EQ(codes.warps, 16);
  const bool has_tag = version() >= 7;
  EXPECT_EQ(coll.fields[field::kCollUserTag], has_tag ? 4242u : 0u);
  EXPECT_EQ(coll.fields[field::kCollIsSymmetric], has_tag ? 1u : 0u);
  EXPECT_EQ(trace.text(static_cast<spool::StringId>(coll.fields[field::kCollVariant])), has_tag ? "ld_mc" : "");
}

TEST_P(EveryVersion, TellsASend) {
  auto starts = starts_of(child_.trace());
  const spool::Event& p2p = starts.at(NcclEvent::kP2p);
  EXPECT_EQ(p2p.fields[field::kP2pCount], 512u);
  EXPECT_EQ(p2p.fields[field::kP2pPeer], 5u);
  EXPECT_EQ(p2p.fields[field::kP2pGroup], starts.at(NcclEvent::kGroup).fields[field::kHandle]);
  EXPECT_EQ(codes_of(p2p, field::kP2pCodes).function, spool::NcclFunction::kSend);
  EXPECT_EQ(codes_of(p2p, field::kP2pCodes).type, spool::NcclType::kBfloat16);
  EXPECT_EQ(codes_of(p2p, field::kP2pCodes).channels, version() >= 4 ? 2 : 0);
  EXPECT_EQ(p2p.fields[field::kP2pUserTag], version() >= 7 ? 4343u : 0u);
}

TEST_P(EveryVersion, TellsApiCallsFromFiveOn) {
  if (version() < 5) return;
  auto starts = starts_of(child_.trace());
  const spool::Event& group = starts.at(NcclEvent::kGroupApi);
  EXPECT_EQ(group.fields[field::kGroupApiDepth], 2u);
  EXPECT_EQ(group.fields[field::kGroupApiIsCaptured], 1u);
  const spool::Event& coll = starts.at(NcclEvent::kCollApi);
  EXPECT_EQ(coll.fields[field::kParent], group.fields[field::kHandle]);
  EXPECT_EQ(codes_of(coll, field::kApiCodes).function, spool::NcclFunction::kAllGather);
  EXPECT_EQ(codes_of(coll, field::kApiCodes).type, spool::NcclType::kInt32);
  EXPECT_EQ(coll.fields[field::kApiCount], 100u);
  EXPECT_EQ(coll.fields[field::kApiStream], 0x77u);
  EXPECT_EQ(coll.fields[field::kApiIsCaptured], 1u);
  const spool::Event& p2p = starts.at(NcclEvent::kP2pApi);
  EXPECT_EQ(codes_of(p2p, field::kApiCodes).function, spool::NcclFunction::kRecv);
  EXPECT_EQ(p2p.fields[field::kApiCount], 101u);
  EXPECT_EQ(p2p.fields[field::kApiStream], 0x78u);
  EXPECT_EQ(p2p.fields[field::kApiIsCaptured], 0u);
  EXPECT_EQ(starts.at(NcclEvent::kKernelLaunch).fields[field::kLaunchStream], 0x76u);
}

TEST_P(EveryVersion, TellsCopyEngineCollectivesFromSixOn) {
  if (version() < 6) return;
  auto starts = starts_of(child_.trace());
  const spool::Event& ce = starts.at(NcclEvent::kCeColl);
  EXPECT_EQ(ce.fields[field::kCeSequence], 5u);
  EXPECT_EQ(codes_of(ce, field::kCeCodes).function, spool::NcclFunction::kAllToAll);
  EXPECT_EQ(codes_of(ce, field::kCeCodes).type, spool::NcclType::kFloat16);
  EXPECT_EQ(ce.fields[field::kCeCount], 300u);
  EXPECT_EQ(ce.fields[field::kCeStream], 0x79u);
  EXPECT_EQ(ce.fields[field::kCeCopySequence], 11u);
  EXPECT_EQ(ce.fields[field::kCeUserTag], version() >= 7 ? 4646u : 0u);
}

INSTANTIATE_TEST_SUITE_P(Nccl, EveryVersion, testing::Range(1, 8));

TEST(Launches, AreBracketedInPairsEvenWhereTheWindowCloses) {
  ChildRun child;
  ASSERT_EQ(child.run(JAXPROF_CHILD, "launches"), 0);
  EXPECT_EQ(child.reported("begun_before"), 0) << "without a collector";
  EXPECT_EQ(child.reported("begun_inside"), 1);
  EXPECT_EQ(child.reported("ended_inside"), 0) << "the stop of another event";
  EXPECT_EQ(child.reported("ended_after"), 1) << "a second stop changes nothing";
  EXPECT_EQ(child.reported("begun_at_the_end"), 3) << "none after the end of the recording";
  EXPECT_EQ(child.reported("ended_at_the_end"), 2) << "the next one closes the one that never stopped";
  EXPECT_EQ(child.reported("ended_finally"), 3);
  EXPECT_EQ(child.reported("nested"), 0);
  std::vector<std::int64_t> launches;
  const rundir::SpoolTrace trace = child.trace();
  for (const ThreadEvent& e : test::events_of(trace)) {
    const bool is_launch = e.event.id == static_cast<std::uint32_t>(NcclEvent::kKernelLaunch);
    if (e.event.kind == EventKind::kNcclStart && is_launch)
      launches.push_back(static_cast<std::int64_t>(e.event.fields[field::kHandle]));
  }
  ASSERT_EQ(launches.size(), 4u);
  EXPECT_EQ(child.reported("handle"), launches[1]);
}

TEST(Window, ClosedKeepsCommunicatorsAndNoEvents) {
  ChildRun child;
  child.plan().window.kind = WindowKind::kProfiler;
  ASSERT_EQ(child.run(JAXPROF_CHILD, "closed_window"), 0);
  EXPECT_EQ(child.reported("mask"), 0x7);
  EXPECT_EQ(child.reported("has_handle"), 1) << "NCCL leaves out the children of an event without a handle";
  const rundir::SpoolTrace trace = child.trace();
  ASSERT_EQ(trace.communicators().size(), 2u);
  EXPECT_EQ(trace.communicators()[0].hash, 0xabcdef0123456789u) << "learnt from a call outside the window";
  EXPECT_EQ(trace.communicators()[0].api, 1u);
  EXPECT_EQ(trace.communicators()[1].api, 7u);
  EXPECT_TRUE(test::events_of(trace).empty());
  EXPECT_EQ(child.all_drops(), 0u);
}

TEST(Trace, WithoutNcclAsksForNothing) {
  ChildRun child;
  child.plan().trace = kDefaultTrace & ~static_cast<std::uint32_t>(kTraceNccl);
  ASSERT_EQ(child.run(JAXPROF_CHILD, "not_traced"), 0);
  EXPECT_EQ(child.reported("mask"), 0);
  EXPECT_EQ(child.reported("has_context"), 0);
  const rundir::SpoolTrace trace = child.trace();
  EXPECT_TRUE(trace.communicators().empty());
  EXPECT_TRUE(test::events_of(trace).empty()) << "also where another has rewritten the mask";
  EXPECT_EQ(child.all_drops(), 0u);
}

}  // namespace
}  // namespace jaxprof::nccl

// The NCCL plugin, driven through its table as NCCL drives it, read back from the spool.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::nccl {
namespace {

namespace field = spool::nccl_field;
using spool::EventKind;
using spool::NcclEvent;
using test::ChildRun;
using test::ThreadEvent;

class Plugin : public testing::Test {
 protected:
  void run(const char* scenario) { ASSERT_EQ(child_.run(JAXPROF_CHILD, scenario), 0) << scenario; }
  std::int64_t reported(const char* name) const { return child_.reported(name); }
  std::vector<spool::Event> events(const rundir::SpoolTrace& trace, EventKind kind) const {
    std::vector<spool::Event> found;
    for (const ThreadEvent& e : test::events_of(trace)) {
      if (e.event.kind == kind) found.push_back(e.event);
    }
    return found;
  }
  ChildRun child_;
};

TEST_F(Plugin, RecordsACallWithAllThatNcclSaysOfIt) {
  run("one_call");
  EXPECT_EQ(reported("init"), 0);
  EXPECT_EQ(reported("mask"), 0xF06);
  EXPECT_EQ(reported("has_context"), 1);
  EXPECT_EQ(reported("state") + reported("stop") + reported("finalize"), 0);
  EXPECT_EQ(child_.slot().nccl_api.load(), 5u);
  EXPECT_EQ(child_.slot().nccl_communicators.load(), 1u);
  const rundir::SpoolTrace trace = child_.trace();
  ASSERT_EQ(trace.communicators().size(), 1u);
  const rundir::Communicator& communicator = trace.communicators()[0];
  EXPECT_EQ(communicator.hash, 0xc0ffeeu);
  EXPECT_EQ(communicator.rank, 5);
  EXPECT_EQ(communicator.rank_count, 8);
  EXPECT_EQ(communicator.node_count, 2);
  EXPECT_EQ(communicator.name, "world");

  const auto starts = events(trace, EventKind::kNcclStart);
  ASSERT_EQ(starts.size(), 3u);
  const spool::Event& api = starts[1];
  EXPECT_EQ(api.id, static_cast<std::uint32_t>(NcclEvent::kCollApi));
  EXPECT_EQ(api.fields[field::kParent], starts[0].fields[field::kHandle]);
  EXPECT_EQ(api.fields[field::kApiCount], 1024u);
  EXPECT_EQ(api.fields[field::kApiStream], 0x77u);
  EXPECT_EQ(api.fields[field::kApiIsCaptured], 1u);
  const spool::Event& coll = starts[2];
  EXPECT_EQ(coll.fields[field::kCommunicator], communicator.number);
  EXPECT_EQ(coll.fields[field::kParent], api.fields[field::kHandle]);
  EXPECT_EQ(coll.fields[field::kCollSequence], 9u);
  EXPECT_EQ(static_cast<std::int64_t>(coll.fields[field::kCollRoot]), -1);
  const spool::NcclCodes codes = spool::unpack_nccl_codes(coll.fields[field::kCollCodes]);
  EXPECT_EQ(codes.function, spool::NcclFunction::kAllReduce);
  EXPECT_EQ(codes.type, spool::NcclType::kFloat32);
  EXPECT_EQ(codes.algorithm, spool::NcclAlgorithm::kRing);
  EXPECT_EQ(codes.protocol, spool::NcclProtocol::kSimple);
  EXPECT_EQ(codes.channels, 4);
  EXPECT_EQ(codes.warps, 16);
  EXPECT_EQ(events(trace, EventKind::kNcclStop).size(), 3u);
  EXPECT_EQ(events(trace, EventKind::kNcclState).at(0).id, 3u);
  EXPECT_EQ(child_.all_drops(), 0u);
}

TEST_F(Plugin, SurvivesNullEverywhere) {
  run("null_everywhere");
  for (const char* call :
       {"init", "no_place_for_handle", "no_descriptor", "stop_null", "state_null", "finalize_null"}) {
    EXPECT_EQ(reported(call), 0) << call;
  }
  EXPECT_EQ(reported("handle_without_descriptor"), 1) << "a handle left unset keeps the value of the event before";
  EXPECT_EQ(reported("no_context"), 1);
  EXPECT_EQ(reported("null_strings"), 1);
  const rundir::SpoolTrace trace = child_.trace();
  const auto starts = events(trace, EventKind::kNcclStart);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].fields[field::kCommunicator], 0u);
  EXPECT_EQ(spool::unpack_nccl_codes(starts[1].fields[field::kCollCodes]).function, spool::NcclFunction::kUnknown);
}

TEST_F(Plugin, NeverFollowsAForeignHandle) {
  run("foreign_handles");
  const rundir::SpoolTrace trace = child_.trace();
  const auto starts = events(trace, EventKind::kNcclStart);
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[0].fields[field::kParent], 0u);
  EXPECT_EQ(starts[1].fields[field::kCommunicator], 0u);
  // Four foreign values, stopped and given a state; the context itself looks like a handle; one foreign parent.
  EXPECT_EQ(child_.drops(Drop::kForeignHandle), 2u * 4 + 1);
}

TEST_F(Plugin, TakesCallbacksInAnyOrder) {
  run("odd_order");
  EXPECT_EQ(reported("double_stop") + reported("double_finalize"), 0);
  EXPECT_EQ(reported("after_finalize"), 1);
  const rundir::SpoolTrace trace = child_.trace();
  EXPECT_EQ(events(trace, EventKind::kNcclStart).size(), 2u);
  EXPECT_EQ(events(trace, EventKind::kNcclStop).size(), 3u);
}

TEST_F(Plugin, RecordsTypesThatItDoesNotKnowByTheirNumberButNoProxyControl) {
  run("unknown_types");
  EXPECT_EQ(reported("handles"), 64);
  EXPECT_EQ(reported("none"), 1);
  EXPECT_EQ(reported("two"), 1);
  std::set<std::uint32_t> ids;
  for (const spool::Event& start : events(child_.trace(), EventKind::kNcclStart)) ids.insert(start.id);
  EXPECT_EQ(ids.size(), 63u);
  EXPECT_EQ(ids.count(static_cast<std::uint32_t>(NcclEvent::kProxyCtrl)), 0u) << "it floods";
}

TEST_F(Plugin, NamesThatItDoesNotKnowAreUnknown) {
  run("unknown_strings");
  const rundir::SpoolTrace trace = child_.trace();
  const auto codes = spool::unpack_nccl_codes(events(trace, EventKind::kNcclStart).at(0).fields[field::kCollCodes]);
  EXPECT_EQ(codes.function, spool::NcclFunction::kUnknown);
  EXPECT_EQ(codes.type, spool::NcclType::kUnknown);
  EXPECT_EQ(codes.algorithm, spool::NcclAlgorithm::kUnknown);
  EXPECT_EQ(codes.protocol, spool::NcclProtocol::kUnknown);
}

TEST_F(Plugin, IsCalledByAllThreadsAtOnce) {
  run("every_thread");
  const rundir::SpoolTrace trace = child_.trace();
  EXPECT_EQ(trace.communicators().size(), 9u);
  std::set<std::uint64_t> handles;
  std::map<std::uint32_t, std::uint64_t> next_of_thread;
  for (const ThreadEvent& e : test::events_of(trace)) {
    if (e.event.kind != EventKind::kNcclStart) continue;
    EXPECT_TRUE(handles.insert(e.event.fields[field::kHandle]).second) << "a handle was given twice";
    EXPECT_EQ(e.event.fields[field::kCollSequence], next_of_thread[e.thread]++);
  }
  EXPECT_EQ(static_cast<std::int64_t>(handles.size()), reported("calls"));
  EXPECT_EQ(next_of_thread.size(), 8u);
  for (const spool::Event& stop : events(trace, EventKind::kNcclStop)) {
    EXPECT_EQ(handles.count(stop.fields[field::kHandle]), 1u);
  }
  EXPECT_EQ(child_.all_drops(), 0u);
}

TEST_F(Plugin, AsksForNothingWhereNothingIsRecorded) {
  child_.leave_out_session();
  run("one_call");
  EXPECT_EQ(reported("init"), 0);
  EXPECT_EQ(reported("mask"), 0);
  EXPECT_EQ(reported("has_context"), 0);
  EXPECT_EQ(reported("state") + reported("stop") + reported("finalize"), 0);
}

TEST_F(Plugin, CountsCallsAfterTheEnd) {
  run("after_exit");
  EXPECT_EQ(events(child_.trace(), EventKind::kNcclStart).size(), 1u);
  EXPECT_EQ(child_.drops(Drop::kAfterEnd), 1u);
}

}  // namespace
}  // namespace jaxprof::nccl

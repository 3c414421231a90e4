// Which instances are looked at, whose times they have, and what members did before.
#include "merge/study/arrivals.h"

#include <gtest/gtest.h>

#include <random>

#include "merge/runfile/table_rows.h"
#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using runfile::Coll;
using runfile::kNoIndex;
using test::Meeting;
using test::MeetingPlan;

Arrivals arrivals_of(const runfile::RunTables& run, const StudyOptions& options = {}) {
  return find_arrivals(run, Scope(run, options), options);
}

StudyOptions all_steps() {
  StudyOptions options;
  options.has_all_steps = true;
  return options;
}

StudyOptions steps(const char* list) {
  StudyOptions options;
  options.steps = list;
  return options;
}

StudyOptions operation(Coll op) {
  StudyOptions options;
  options.op = op;
  return options;
}

const MeetingPlan kTwo{.processes = 2, .comms = {{0, 1}}};

TEST(Arrivals, HoldFirstAndLastArrivalAndTheLastEnd) {
  const auto run = test::run_of_meetings(kTwo, {{.start_ns = {100, 130}, .end_ns = {150, 151}}});
  const Arrivals a = arrivals_of(run);
  ASSERT_EQ(a.size(), 1U);
  EXPECT_TRUE(a.is_gpu);
  EXPECT_EQ(a.instances.first_ns[0], 100);
  EXPECT_EQ(a.instances.last_ns[0], 130);
  EXPECT_EQ(a.instances.end_ns[0], 151);
  EXPECT_EQ(a.instances.step[0], 0);
  EXPECT_TRUE(a.has(0, kArrivalAsked | kArrivalComplete | kArrivalAsRecorded | kArrivalResolved | kArrivalCertain |
                           kArrivalSynchronizing));
  EXPECT_FALSE(a.has(0, kArrivalEarlyExit));
  EXPECT_EQ(a.members.process, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(a.members.comm_rank, (std::vector<std::int32_t>{0, 1}));
}

TEST(Arrivals, StandByCommunicatorAndTime) {
  const MeetingPlan plan{.processes = 2, .comms = {{0, 1}, {0, 1}}};
  const auto run = test::run_of_meetings(plan, {{.comm = 1, .start_ns = {10, 10}, .end_ns = {11, 11}},
                                                {.comm = 0, .start_ns = {50, 50}, .end_ns = {60, 60}},
                                                {.comm = 0, .start_ns = {30, 30}, .end_ns = {40, 40}}});
  const Arrivals a = arrivals_of(run);
  EXPECT_EQ(a.instances.comm, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(a.instances.first_ns, (std::vector<std::int64_t>{30, 50, 10}));
}

TEST(Arrivals, TakeHostTimesOnlyWhereNoInstanceHasThoseOfGpus) {
  const Meeting on_host{.start_ns = {10, 20}, .end_ns = {15, 26}, .is_on_gpu = false};
  const Meeting on_gpu{.start_ns = {100, 130}, .end_ns = {150, 150}};
  const Arrivals host = arrivals_of(test::run_of_meetings(kTwo, {on_host}));
  EXPECT_FALSE(host.is_gpu);
  ASSERT_EQ(host.size(), 1U);
  EXPECT_EQ(host.instances.last_ns[0], 20);
  EXPECT_EQ(host.instances.end_ns[0], 26);
  const Arrivals both = arrivals_of(test::run_of_meetings(kTwo, {on_host, on_gpu}));
  EXPECT_TRUE(both.is_gpu);
  EXPECT_EQ(both.size(), 1U);
  EXPECT_EQ(both.n_without_times, 1U);
}

TEST(Arrivals, TellInstancesOfWhichMembersLackFromThoseThatWereNotRecorded) {
  const MeetingPlan plan{.processes = 3, .comms = {{0, 1, 2}, {0, 1, kNoIndex}, {0, kNoIndex}}};
  const auto run = test::run_of_meetings(plan, {{.comm = 0, .start_ns = {10, 10, -1}, .end_ns = {11, 11, -1}},
                                                {.comm = 1, .start_ns = {20, 20, -1}, .end_ns = {21, 21, -1}},
                                                {.comm = 2, .start_ns = {30, -1}, .end_ns = {31, -1}}});
  const Arrivals a = arrivals_of(run);
  ASSERT_EQ(a.size(), 3U);
  EXPECT_FALSE(a.has(0, kArrivalComplete));
  EXPECT_FALSE(a.has(0, kArrivalAsRecorded));
  EXPECT_FALSE(a.has(1, kArrivalComplete));
  EXPECT_TRUE(a.has(1, kArrivalAsRecorded));
  EXPECT_FALSE(a.has(2, kArrivalAsRecorded));
}

TEST(Arrivals, AreResolvedAndCertainAsTheClocksSay) {
  const auto at = [](std::uint16_t flags) {
    return Meeting{.start_ns = {10, 20}, .end_ns = {30, 30}, .flags = flags, .bound_ns = 5};
  };
  const auto run =
      test::run_of_meetings(kTwo, {at(runfile::kInstanceUnresolved), at(0), at(runfile::kInstanceCertain)});
  const Arrivals a = arrivals_of(run);
  EXPECT_FALSE(a.has(0, kArrivalResolved));
  EXPECT_TRUE(a.has(1, kArrivalResolved));
  EXPECT_FALSE(a.has(1, kArrivalCertain));
  EXPECT_TRUE(a.has(2, kArrivalResolved | kArrivalCertain));
}

TEST(Arrivals, LeaveOutSendsAndWhatWasCapturedIfReplaysAreThere) {
  Meeting captured{.start_ns = {10, 10}, .end_ns = {11, 11}, .is_on_gpu = false, .is_captured = true};
  const Meeting replay{.start_ns = {20, 20}, .end_ns = {30, 30}, .replay = 0, .is_captured = true};
  const Meeting send{.start_ns = {40, 40}, .end_ns = {50, 50}, .coll = Coll::kSend};
  const Arrivals a = arrivals_of(test::run_of_meetings(kTwo, {captured, replay, send}));
  ASSERT_EQ(a.size(), 1U);
  EXPECT_EQ(a.instances.first_ns[0], 20);
  EXPECT_EQ(a.n_captures, 1U);
  EXPECT_EQ(a.n_without_times, 0U);
  EXPECT_EQ(arrivals_of(test::run_of_meetings(kTwo, {captured})).size(), 1U);
}

TEST(Arrivals, AreInTheStepInWhichMostHostCallsBegin) {
  const MeetingPlan plan{.processes = 3, .comms = {{0, 1, 2}}};
  auto run = test::run_of_meetings(plan, {{.start_ns = {150, 160, 170}, .end_ns = {180, 180, 180}, .ahead_ns = 40},
                                          {.start_ns = {210, 250, 250}, .end_ns = {260, 260, 260}, .ahead_ns = 40}});
  for (std::uint32_t p = 0; p < 3; ++p) test::add_steps(run, p, {{4, 100, 10}, {5, 200, 100}});
  const Arrivals all = arrivals_of(run, all_steps());
  EXPECT_EQ(all.instances.step, (std::vector<std::int32_t>{0, 1}));
  const Arrivals asked = arrivals_of(run, steps("5"));
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_FALSE(asked.has(0, kArrivalAsked));
  EXPECT_TRUE(asked.has(1, kArrivalAsked));
}

TEST(Arrivals, AreAskedForByOperation) {
  const auto run = test::run_of_meetings(kTwo, {{.start_ns = {10, 20}, .end_ns = {30, 30}},
                                                {.start_ns = {40, 50}, .end_ns = {60, 60}, .coll = Coll::kAllGather}});
  const Arrivals a = arrivals_of(run, operation(Coll::kAllGather));
  EXPECT_FALSE(a.has(0, kArrivalAsked));
  EXPECT_TRUE(a.has(1, kArrivalAsked));
}

TEST(Arrivals, KnowTheOperationBeforeOfWhateverCommunicator) {
  const MeetingPlan plan{.processes = 3, .has_devices = true, .comms = {{0, 1, 2}, {0, 1}}};
  const auto run = test::run_of_meetings(plan, {{.start_ns = {10, 20, 15}, .end_ns = {30, 30, 30}},
                                                {.comm = 1, .start_ns = {40, 50}, .end_ns = {60, 61}},
                                                {.start_ns = {70, 61, 75}, .end_ns = {80, 80, 80}}});
  const Arrivals a = arrivals_of(run);  // comm 0: instances 0 and 1, comm 1: instance 2
  EXPECT_EQ(a.members.previous, (std::vector<std::uint32_t>{kNoMember, kNoMember, kNoMember, 6, 7, 2, 0, 1}));
}

TEST(Arrivals, TakeForTheOperationBeforeOneThatHadEndedAndSynchronized) {
  const auto run = test::run_of_meetings(
      kTwo, {{.start_ns = {10, 10}, .end_ns = {20, 20}},
             {.start_ns = {30, 30}, .end_ns = {100, 100}},                          // goes on beside the next ones
             {.start_ns = {40, 40}, .end_ns = {50, 50}, .coll = Coll::kBroadcast},  // synchronizes nobody
             {.start_ns = {60, 60}, .end_ns = {60, 60}},                            // of no length
             {.start_ns = {60, 70}, .end_ns = {80, 80}}});
  const Arrivals a = arrivals_of(run);
  EXPECT_EQ(a.members.previous, (std::vector<std::uint32_t>{kNoMember, kNoMember, 0, 1, 0, 1, 0, 1, 0, 7}));
  EXPECT_FALSE(a.has(2, kArrivalSynchronizing));
}

// The rule itself, without any order to lean on.
std::uint32_t previous_of(const Arrivals& a, std::size_t member) {
  const ArrivalMembers& m = a.members;
  std::uint32_t best = kNoMember;
  for (std::size_t instance = 0; instance < a.size(); ++instance) {
    if (!a.has(instance, kArrivalSynchronizing)) continue;
    for (std::size_t i = a.begin(instance); i < a.end(instance); ++i) {
      const bool is_before =
          m.process[i] == m.process[member] && m.end_ns[i] <= m.start_ns[member] && m.start_ns[i] < m.start_ns[member];
      if (!is_before) continue;
      const auto at = static_cast<std::uint32_t>(i);
      if (best == kNoMember || std::pair(m.end_ns[best], best) < std::pair(m.end_ns[at], at)) best = at;
    }
  }
  return best;
}

TEST(Arrivals, KnowTheOperationBeforeHoweverOperationsOverlapAndClocksErr) {
  const MeetingPlan plan{.processes = 4, .has_devices = true, .comms = {{0, 1, 2, 3}, {0, 1}, {2, 3}}};
  std::mt19937_64 random(11);
  for (int round = 0; round < 120; ++round) {
    const std::int64_t crowd = round % 3 == 0 ? 400 : 4'000;  // dense rounds have many at once
    std::vector<Meeting> meetings;
    for (int k = 0; k < 30; ++k) {
      Meeting meeting{.comm = static_cast<std::uint32_t>(random() % 3), .start_ns = {}, .end_ns = {}};
      const std::int64_t t_ns =
          round % 2 == 0 ? 200 * k : crowd + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(crowd));
      for (std::size_t i = 0; i < plan.comms[meeting.comm].size(); ++i) {
        meeting.start_ns.push_back(t_ns + static_cast<std::int64_t>(random() % 150));
        meeting.end_ns.push_back(meeting.start_ns.back() + static_cast<std::int64_t>(random() % 300));
      }
      if (random() % 5 == 0) meeting.coll = Coll::kBroadcast;
      meetings.push_back(std::move(meeting));
    }
    const Arrivals a = arrivals_of(test::run_of_meetings(plan, meetings));
    for (std::size_t i = 0; i < a.members.call.size(); ++i)
      ASSERT_EQ(a.members.previous[i], previous_of(a, i)) << round;
  }
}

TEST(Arrivals, TakeWithoutGpusTheProcessForTheLane) {
  // Two members of one process, as with two GPUs a process of which nothing tells which is which.
  const MeetingPlan plan{.processes = 1, .comms = {{0, 0}}};
  const auto run = test::run_of_meetings(
      plan, {{.start_ns = {10, 11}, .end_ns = {20, 20}}, {.start_ns = {30, 31}, .end_ns = {40, 40}}});
  const Arrivals a = arrivals_of(run);
  ASSERT_EQ(a.members.process, (std::vector<std::uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(a.members.previous[2], 1U);
}

TEST(Arrivals, StandDamagedRows) {
  auto run = test::run_of_meetings(kTwo, {{.start_ns = {10, 20}, .end_ns = {30, 30}},
                                          {.start_ns = {40, 50}, .end_ns = {60, 60}},
                                          {.start_ns = {70, 80}, .end_ns = {90, 90}}});
  run.nccl.gpu_start_ns[0] = -1;                                      // instance 0 says that it has one
  run.collective_members.event_row[3] = runfile::kNoRow;              // a member of instance 1
  run.nccl.gpu_dur_ns[2] = std::numeric_limits<std::int64_t>::max();  // of instance 2
  const Arrivals a = arrivals_of(run);
  ASSERT_EQ(a.size(), 2U);
  EXPECT_EQ(a.n_without_times, 1U);
  EXPECT_FALSE(a.has(0, kArrivalComplete));
  EXPECT_EQ(a.instances.end_ns[1], std::numeric_limits<std::int64_t>::max());
}

// Two processes on one GPU: what one of them did there before is not what the other came late for.
TEST(Arrivals, AreAProcesssOwnWhereAGpuIsShared) {
  auto run = test::run_of_meetings({.processes = 2, .processes_of_node = 0, .has_devices = true, .comms = {{0, 1}}},
                                   {{.comm = 0, .start_ns = {100, 900}, .end_ns = {950, 950}}});
  EXPECT_EQ(find_arrivals(run, Scope(run, {}), {}).members.device, (std::vector<std::int32_t>{0, 1}));
  run.nccl.device.assign(run.nccl.device.size(), 0);
  run.devices.process[0] = runfile::kNoIndex;
  EXPECT_EQ(find_arrivals(run, Scope(run, {}), {}).members.device, (std::vector<std::int32_t>{-1, -1}));
}

}  // namespace
}  // namespace jaxprof::study

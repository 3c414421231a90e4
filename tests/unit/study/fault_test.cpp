// Blame that is followed back to its origin, with nothing lost on the way.
#include "merge/study/fault.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using test::Meeting;
using test::MeetingPlan;

struct Traced {
  Fault fault;
  std::vector<std::int64_t> of_process;  // fault, over steps and communicators
};

Traced traced(const MeetingPlan& plan, const std::vector<Meeting>& meetings,
              const std::vector<std::int64_t>& over_usual_ns = {}) {
  const auto run = test::run_of_meetings(plan, meetings);
  const StudyOptions options;
  const Arrivals arrivals = find_arrivals(run, Scope(run, options), options);
  const Subjects units(run, arrivals, By::kMember);
  std::vector<std::int64_t> over_ns = over_usual_ns;
  over_ns.resize(arrivals.size(), 0);
  Traced found{trace_fault(arrivals, judged_instances(arrivals), units, over_ns, plan.processes, 0), {}};
  found.of_process.resize(plan.processes, 0);
  for (std::size_t unit = 0; unit < units.size(); ++unit) {
    found.of_process[static_cast<std::size_t>(units.at(unit).rank)] += found.fault.total(found.fault.fault_ns, unit);
  }
  return found;
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

constexpr std::int64_t kMs = 1'000'000;

// Two nodes of two; communicators 0: all, 1: node 0, 2: node 1.
const MeetingPlan kNodes{.processes = 4, .processes_of_node = 2, .comms = {{0, 1, 2, 3}, {0, 1}, {2, 3}}};

std::vector<Meeting> round_of(std::int64_t t, std::int64_t late_of_1_ns) {
  const std::int64_t end = t + late_of_1_ns + 1'000;
  const std::int64_t u = t + 2 * kMs;
  const std::int64_t last = u + late_of_1_ns;
  return {{.comm = 1, .start_ns = {t, t + late_of_1_ns}, .end_ns = {end, end}},
          {.comm = 2, .start_ns = {t, t}, .end_ns = {t + 1'000, t + 1'000}},
          {.comm = 0, .start_ns = {last, last, u, u}, .end_ns = {last + 500, last + 500, last + 500, last + 500}}};
}

TEST(Fault, StaysWithAMemberThatIsLateByItself) {
  const MeetingPlan plan{.processes = 3, .comms = {{0, 1, 2}}};
  const Traced found = traced(plan, {{.start_ns = {0, 0, 0}, .end_ns = {10, 10, 10}},
                                     {.start_ns = {kMs, kMs, 3 * kMs}, .end_ns = {4 * kMs, 4 * kMs, 4 * kMs}}});
  EXPECT_EQ(found.of_process, (std::vector<std::int64_t>{0, 0, 4 * kMs}));
  EXPECT_EQ(sum(found.fault.wait_ns), 4 * kMs);
  EXPECT_EQ(sum(found.fault.last_only_ns), 4 * kMs);
  EXPECT_EQ(found.fault.n_resolved, 2U);
}

TEST(Fault, GoesBackToWhoMadeOthersLateElsewhere) {
  std::vector<Meeting> meetings;
  for (std::int64_t k = 0; k < 4; ++k) {
    for (const Meeting& meeting : round_of(10 * kMs * (k + 1), kMs)) meetings.push_back(meeting);
  }
  const Traced found = traced(kNodes, meetings);
  // Each round rank 0 waits 1 ms for rank 1, and then two others 1 ms for both, which is rank 1's doing as well. In the
  // first round nothing is known of what was before.
  EXPECT_EQ(sum(found.fault.blame_ns), 4 * 3 * kMs);
  EXPECT_EQ(found.of_process[0], 0);
  EXPECT_EQ(found.of_process[1], 4 * 3 * kMs);
}

TEST(Fault, AddsUpWhatTwoOperationsOfANodeDelayed) {
  // Rank 1 is late to the first, rank 0 to the second; the other node waits for both delays.
  std::vector<Meeting> meetings = {{.start_ns = {0, 0, 0, 0}, .end_ns = {10, 10, 10, 10}}};
  const std::int64_t t = kMs;
  meetings.push_back({.comm = 1, .start_ns = {t, t + 3 * kMs}, .end_ns = {t + 3 * kMs + 1, t + 3 * kMs + 1}});
  meetings.push_back({.comm = 1, .start_ns = {t + 5 * kMs, t + 4 * kMs}, .end_ns = {t + 5 * kMs + 1, t + 5 * kMs + 1}});
  meetings.push_back({.comm = 2, .start_ns = {t, t}, .end_ns = {t + 1, t + 1}});
  meetings.push_back({.comm = 2, .start_ns = {t + kMs, t + kMs}, .end_ns = {t + kMs + 1, t + kMs + 1}});
  const std::int64_t u = t + 6 * kMs;
  meetings.push_back({.start_ns = {u, u, u - 4 * kMs, u - 4 * kMs}, .end_ns = {u + 9, u + 9, u + 9, u + 9}});
  const Traced found = traced(kNodes, meetings);
  // 3 ms and 1 ms within the node, and 8 ms of the other node in proportion of the delays, which are measured from the
  // middle of two.
  EXPECT_NEAR(static_cast<double>(found.of_process[1]), (3 + 6) * 1e6, 1e4);
  EXPECT_NEAR(static_cast<double>(found.of_process[0]), (1 + 2) * 1e6, 1e4);
  EXPECT_EQ(sum(found.of_process), sum(found.fault.blame_ns));
}

TEST(Fault, IsNobodysWhereATransferElsewhereTookTooLong) {
  std::vector<Meeting> meetings = {{.start_ns = {0, 0, 0, 0}, .end_ns = {10, 10, 10, 10}}};
  const std::int64_t t = kMs;
  meetings.push_back({.comm = 1, .start_ns = {t, t}, .end_ns = {t + 2 * kMs, t + 2 * kMs}});
  meetings.push_back({.comm = 2, .start_ns = {t, t}, .end_ns = {t + 1'000, t + 1'000}});
  const std::int64_t u = t + 3 * kMs;
  meetings.push_back({.start_ns = {u, u, u - 2 * kMs, u - 2 * kMs}, .end_ns = {u + 9, u + 9, u + 9, u + 9}});
  // Instances by communicator and time: the first two are those of all, the third is node 0's.
  const Traced found = traced(kNodes, meetings, {0, 0, 2 * kMs, 0});
  EXPECT_EQ(sum(found.fault.blame_ns), 4 * kMs);
  EXPECT_GT(sum(found.fault.transfers_ns), 39 * kMs / 10);
  EXPECT_EQ(sum(found.fault.transfers_ns) + sum(found.fault.fault_ns), sum(found.fault.blame_ns));
}

TEST(Fault, BlamesNobodyWhereClocksCannotTell) {
  const MeetingPlan plan{.processes = 2, .processes_of_node = 1, .comms = {{0, 1}}};
  const Traced found = traced(
      plan,
      {{.start_ns = {0, 5'000}, .end_ns = {9'000, 9'000}, .flags = runfile::kInstanceUnresolved, .bound_ns = 90'000}});
  EXPECT_EQ(sum(found.fault.wait_ns), 0);
  EXPECT_EQ(found.fault.n_unresolved, 1U);
  EXPECT_EQ(found.fault.n_resolved, 0U);
}

TEST(Fault, LeavesOutBroadcastsWhoseEarlyMembersDoNotWait) {
  const MeetingPlan plan{.processes = 2, .comms = {{0, 1}}};
  const Traced found =
      traced(plan, {{.start_ns = {0, 5 * kMs}, .end_ns = {kMs, 6 * kMs}, .coll = runfile::Coll::kBroadcast}});
  EXPECT_EQ(sum(found.fault.wait_ns), 0);
  EXPECT_EQ(found.fault.n_rooted, 1U);
}

TEST(Fault, IsConservedWhateverComes) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 60; ++round) {
    std::vector<Meeting> meetings;
    std::vector<std::int64_t> free_ns(4, 1'000);
    for (int k = 0; k < 40; ++k) {
      const auto comm = static_cast<std::uint32_t>(random() % 3);
      Meeting meeting{.comm = comm, .start_ns = {}, .end_ns = {}};
      std::int64_t last_ns = 0;
      for (const std::uint32_t p : kNodes.comms[comm]) {
        meeting.start_ns.push_back(free_ns[p] +
                                   static_cast<std::int64_t>(random() % (random() % 5 == 0 ? 2'000'000 : 20'000)));
        last_ns = std::max(last_ns, meeting.start_ns.back());
      }
      for (const std::uint32_t p : kNodes.comms[comm]) {
        free_ns[p] = last_ns + 5'000 + static_cast<std::int64_t>(random() % 300);
        meeting.end_ns.push_back(free_ns[p]);
      }
      meetings.push_back(std::move(meeting));
    }
    std::vector<std::int64_t> over_usual_ns(meetings.size());
    for (auto& ns : over_usual_ns) ns = static_cast<std::int64_t>(random() % 50'000);
    const Fault fault = traced(kNodes, meetings, over_usual_ns).fault;
    EXPECT_EQ(sum(fault.blame_ns), sum(fault.wait_ns));
    EXPECT_EQ(sum(fault.fault_ns) + sum(fault.transfers_ns), sum(fault.wait_ns));
    EXPECT_EQ(sum(fault.last_only_ns), sum(fault.wait_ns));
    EXPECT_LE(fault.removable_ns, sum(fault.wait_ns));
    for (const std::int64_t ns : fault.fault_ns) EXPECT_GE(ns, 0);
  }
}

}  // namespace
}  // namespace jaxprof::study

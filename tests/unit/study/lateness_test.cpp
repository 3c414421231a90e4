// Who is late, by how much, and what clocks leave of it.
#include "merge/study/lateness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "merge/study/distribution.h"
#include "merge/study/select_percentile.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using test::Meeting;
using test::MeetingPlan;
using testing::HasSubstr;

const MeetingPlan kThree{.processes = 3, .processes_of_node = 1, .comms = {{0, 1, 2}}};

// Member 2 comes 1 ms late to each, all leave together, 100 µs after the last.
std::vector<Meeting> with_one_late(std::size_t n) {
  std::vector<Meeting> meetings;
  for (std::size_t k = 0; k < n; ++k) {
    const auto t_ns = static_cast<std::int64_t>(10'000'000 * (k + 1));
    const std::int64_t end_ns = t_ns + 1'100'000;
    meetings.push_back({.start_ns = {t_ns, t_ns + 2'000, t_ns + 1'000'000}, .end_ns = {end_ns, end_ns, end_ns}});
  }
  return meetings;
}

StudyOptions by(By what, bool is_for_programs = true) {
  StudyOptions options;
  options.by = what;
  options.is_for_programs = is_for_programs;
  return options;
}

Cell cell(const Table& table, std::size_t row, const std::string& column) {
  const auto is_named = [&column](const Column& c) { return c.name == column; };
  const auto at = std::find_if(table.columns.begin(), table.columns.end(), is_named);
  return table.rows.at(row).at(static_cast<std::size_t>(at - table.columns.begin()));
}

TEST(Lateness, SaysHowLateAndHowOftenLast) {
  const Table table = lateness(test::run_of_meetings(kThree, with_one_late(25)), by(By::kRank));
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(cell(table, 2, "late_p50_ns"), Cell{1e6});
  EXPECT_EQ(cell(table, 2, "off_middle_p50_ns"), Cell{998e3});
  EXPECT_EQ(cell(table, 2, "last_share"), Cell{1.0});
  EXPECT_EQ(cell(table, 0, "first_share"), Cell{1.0});
  EXPECT_EQ(cell(table, 2, "certain"), Cell{std::string("25 of 25")});
  EXPECT_THAT(table.verdict, HasSubstr("rank 2 (node n2), in 25 of its 25 resolved ones, 1 ms after the first"));
  EXPECT_EQ(table.finding, Finding::kNone);
}

TEST(Lateness, TellsWhoWasMadeLateElsewhere) {
  // Rank 1 makes rank 0 late in communicator 1, and so both come late to communicator 0; rank 1 alone is at fault.
  const MeetingPlan plan{.processes = 4, .comms = {{0, 1, 2, 3}, {0, 1}, {2, 3}}};
  std::vector<Meeting> meetings;
  for (std::int64_t k = 1; k <= 9; ++k) {
    const std::int64_t t = 10'000'000 * k;
    meetings.push_back({.comm = 1, .start_ns = {t, t + 500'000}, .end_ns = {t + 501'000, t + 501'000}});
    meetings.push_back({.comm = 2, .start_ns = {t, t}, .end_ns = {t + 1'000, t + 1'000}});
    const std::int64_t u = t + 600'000;
    meetings.push_back(
        {.comm = 0, .start_ns = {u, u, u - 500'000, u - 500'000}, .end_ns = {u + 9, u + 9, u + 9, u + 9}});
  }
  const Table table = lateness(test::run_of_meetings(plan, meetings), by(By::kMember));
  ASSERT_EQ(table.rows.size(), 8U);
  EXPECT_EQ(cell(table, 0, "comm"), Cell{std::int64_t{0}});
  EXPECT_EQ(cell(table, 0, "late_p50_ns"), Cell{500e3});  // rank 0 in communicator 0
  EXPECT_EQ(cell(table, 0, "self_p50_ns"), Cell{0.0});
  EXPECT_EQ(cell(table, 1, "late_p50_ns"), Cell{500e3});
  EXPECT_EQ(cell(table, 5, "self_p50_ns"), Cell{250e3});  // rank 1 in communicator 1, against the median of both
}

TEST(Lateness, ShowsALimitWhereClocksCannotTell) {
  std::vector<Meeting> meetings;
  for (std::int64_t k = 1; k <= 25; ++k) {
    const std::int64_t t = 1'000'000 * k;
    meetings.push_back({.start_ns = {t, t + 20, t + 100},
                        .end_ns = {t + 400, t + 400, t + 400},
                        .flags = runfile::kInstanceUnresolved,
                        .bound_ns = 50'000});  // sigma 5 µs
  }
  const auto run = test::run_of_meetings(kThree, meetings);
  const Table for_people = lateness(run, by(By::kRank, false));
  EXPECT_EQ(cell(for_people, 2, "late_p50_ns"), Cell{std::string("≤ 15 µs")});
  EXPECT_THAT(for_people.verdict, HasSubstr("25 instances, 0 resolved"));
  EXPECT_THAT(for_people.notes, testing::Contains(HasSubstr("within 15 µs of each other")));
  const Table for_programs = lateness(run, by(By::kRank));
  EXPECT_EQ(cell(for_programs, 2, "late_p50_ns"), Cell{100.0});
  EXPECT_EQ(cell(for_programs, 2, "resolution_ns"), Cell{15e3});
  EXPECT_EQ(cell(for_programs, 2, "last_resolved_share"), Cell{Missing{}});
}

TEST(Lateness, DoubtsClocksThatContradictTheLengthsOfKernels) {
  auto meetings = with_one_late(10);
  // The clock of member 0 goes wrong: it seems to come and to leave 2 ms later, with a long kernel.
  for (Meeting& meeting : meetings) {
    meeting.start_ns[0] += 2'000'000;
    meeting.end_ns[0] += 2'000'000;
  }
  const Table table = lateness(test::run_of_meetings(kThree, meetings), by(By::kRank));
  EXPECT_EQ(table.finding, Finding::kWarning);
  EXPECT_THAT(table.notes.front(), HasSubstr("clock or matching suspect: in only 0 of 10 instances"));
}

TEST(Lateness, SaysThatHostTimesStandIn) {
  auto meetings = with_one_late(3);
  for (Meeting& meeting : meetings) meeting.is_on_gpu = false;
  const Table table = lateness(test::run_of_meetings(kThree, meetings), by(By::kRank));
  EXPECT_THAT(table.heading, HasSubstr("host enqueue, as no instance has GPU times"));
  EXPECT_EQ(table.rows.size(), 3U);
}

TEST(Lateness, SaysWhyThereIsNobodyToCompare) {
  const Table none = lateness(test::run_of_meetings(kThree, {}), {});
  EXPECT_THAT(none.empty_reason, HasSubstr("no NCCL calls"));
  StudyOptions op;
  op.op = runfile::Coll::kBarrier;
  EXPECT_THAT(lateness(test::run_of_meetings(kThree, with_one_late(1)), op).empty_reason,
              HasSubstr("no collective fits --op Barrier"));
  const MeetingPlan alone{.processes = 1, .comms = {{0, runfile::kNoIndex}}};
  const Table one = lateness(test::run_of_meetings(alone, {{.start_ns = {5, -1}, .end_ns = {6, -1}}}), {});
  EXPECT_THAT(one.empty_reason, HasSubstr("none has more than one that was recorded"));
  StudyOptions nobody;
  nobody.ranks = "77";
  EXPECT_THAT(lateness(test::run_of_meetings(kThree, with_one_late(1)), nobody).empty_reason, HasSubstr("--ranks 77"));
}

TEST(Lateness, ComparesAgainstAllRanksWhenSomeAreAskedFor) {
  StudyOptions options = by(By::kRank);
  options.ranks = "2";
  const Table table = lateness(test::run_of_meetings(kThree, with_one_late(5)), options);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(cell(table, 0, "late_p50_ns"), Cell{1e6});
}

TEST(Lateness, SumsUpByNodeGpuAndCommunicator) {
  const MeetingPlan plan{.processes = 4, .processes_of_node = 2, .has_devices = true, .comms = {{0, 1, 2, 3}}};
  const auto run = test::run_of_meetings(
      plan, {{.start_ns = {10, 20, 30, 900'000}, .end_ns = {1'000'000, 1'000'000, 1'000'000, 1'000'000}}});
  EXPECT_EQ(lateness(run, by(By::kGpu)).rows.size(), 4U);
  const Table nodes = lateness(run, by(By::kNode));
  ASSERT_EQ(nodes.rows.size(), 2U);
  EXPECT_EQ(cell(nodes, 1, "ranks"), Cell{std::string("ranks 2-3")});
  EXPECT_EQ(cell(nodes, 1, "instances"), Cell{std::int64_t{1}});
  EXPECT_EQ(cell(nodes, 1, "last_share"), Cell{1.0});
  const Table comms = lateness(run, by(By::kComm));
  ASSERT_EQ(comms.rows.size(), 1U);
  EXPECT_EQ(cell(comms, 0, "spread_p50_ns"), Cell{899'990.0});
}

TEST(SelectPercentile, IsThatOfSortedValues) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> values(1 + random() % 50);
    for (auto& value : values) value = static_cast<std::int64_t>(random() % 1000) - 500;
    std::vector<std::int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    for (const double share : {0.0, 0.05, 0.5, 0.95, 1.0}) {
      EXPECT_DOUBLE_EQ(select_percentile(values, share), percentile(sorted, share));
    }
  }
}

}  // namespace
}  // namespace jaxprof::study

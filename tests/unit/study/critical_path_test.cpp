// The path of jobs of which it is known who held whom up.
#include "merge/study/critical_path.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"
#include "tests/unit/study/working_ranks.h"

namespace jaxprof::study {
namespace {

using test::kTransferNs;

struct Found {
  explicit Found(const runfile::RunTables& run, const StudyOptions& options = {})
      : scope(run, options),
        arrivals(find_arrivals(run, scope, options)),
        path(critical_path(run, scope, arrivals, judged_instances(arrivals), resolutions_ns(run, arrivals))) {}
  std::uint32_t process(std::size_t piece) const { return arrivals.members.process[path.pieces[piece].member]; }
  Scope scope;
  Arrivals arrivals;
  CriticalPath path;
};

// The pieces of each step follow each other and are exactly the step.
void expect_gapless(const Found& found) {
  std::size_t piece = 0;
  for (const PathStep& step : found.path.steps) {
    std::int64_t at_ns = step.span.begin_ns;
    for (; piece < found.path.pieces.size() && found.path.pieces[piece].step == step.step; ++piece) {
      EXPECT_EQ(found.path.pieces[piece].span.begin_ns, at_ns);
      EXPECT_LT(at_ns, found.path.pieces[piece].span.end_ns);
      at_ns = found.path.pieces[piece].span.end_ns;
    }
    EXPECT_EQ(at_ns, step.span.end_ns);
  }
  EXPECT_EQ(piece, found.path.pieces.size());
}

TEST(CriticalPath, FollowsTheLastOfEachStep) {
  const Found found(test::run_of_working_ranks({{100, 100, 100, 160}, {100, 130, 100, 100}}));
  ASSERT_EQ(found.path.pieces.size(), 4U);
  EXPECT_EQ(found.process(0), 3U);
  EXPECT_FALSE(found.path.pieces[0].is_transfer);
  EXPECT_EQ(found.path.pieces[0].span, (TimeSpan{1000, 1160}));
  EXPECT_TRUE(found.path.pieces[1].is_transfer);
  EXPECT_EQ(found.path.pieces[1].span, (TimeSpan{1160, 1160 + kTransferNs}));
  EXPECT_EQ(found.process(2), 1U);
  EXPECT_EQ(found.path.pieces[2].span.end_ns, 1160 + kTransferNs + 130);
  expect_gapless(found);
}

// Rank 0 waits for rank 1 in communicator 0, and so comes late to communicator 1, where rank 2 waits for it: rank 1 is
// on the path, not rank 0.
TEST(CriticalPath, GoesOnToWhoeverMadeTheLateRankLate) {
  auto run = test::run_of_meetings({.processes = 3, .has_devices = true, .comms = {{0, 1}, {0, 2}}},
                                   {{.comm = 0, .start_ns = {100, 900}, .end_ns = {950, 950}},
                                    {.comm = 1, .start_ns = {1000, 200}, .end_ns = {1040, 1040}}});
  for (std::uint32_t process = 0; process < 3; ++process) test::add_steps(run, process, {{0, 50, 1100}});
  const Found found(run);
  ASSERT_EQ(found.path.pieces.size(), 4U);
  EXPECT_EQ(found.process(0), 1U);
  EXPECT_EQ(found.path.pieces[0].span, (TimeSpan{50, 900}));
  EXPECT_TRUE(found.path.pieces[1].is_transfer);
  EXPECT_EQ(found.process(2), 0U);
  EXPECT_EQ(found.path.pieces[2].span, (TimeSpan{950, 1000}));
  EXPECT_EQ(found.path.pieces[3].span, (TimeSpan{1000, 1040}));
  expect_gapless(found);
}

TEST(CriticalPath, SaysWhereAnotherMightAsWellHaveBeenTheLast) {
  const Found found(test::run_of_working_ranks({{100, 160, 160, 100}, {100, 100, 100, 160}}));
  EXPECT_TRUE(found.path.pieces[1].is_tied);
  EXPECT_FALSE(found.path.pieces[3].is_tied);
}

TEST(CriticalPath, IsGaplessInRandomJobs) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::vector<std::int64_t>> own_ns(1 + random() % 9, std::vector<std::int64_t>(4));
    for (auto& step : own_ns) {
      for (std::int64_t& own : step) own = static_cast<std::int64_t>(random() % 300);
    }
    const Found found(test::run_of_working_ranks(own_ns));
    expect_gapless(found);
    EXPECT_EQ(found.path.steps.size(), own_ns.size());
  }
}

TEST(CriticalPath, IsGaplessInRandomMeetingsOfManyCommunicators) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 200; ++round) {
    std::vector<test::Meeting> meetings;
    for (int i = 0; i < 30; ++i) {
      const auto at_ns = 100 + 40 * i + static_cast<std::int64_t>(random() % 400);
      test::Meeting meeting;
      meeting.comm = static_cast<std::uint32_t>(random() % 3);
      if (random() % 4 == 0) meeting.coll = runfile::Coll::kBroadcast;
      for (int member = 0; member < 2; ++member) {
        meeting.start_ns.push_back(at_ns + static_cast<std::int64_t>(random() % 100));
        meeting.end_ns.push_back(meeting.start_ns.back() + static_cast<std::int64_t>(random() % 150));
      }
      meetings.push_back(meeting);
    }
    auto run =
        test::run_of_meetings({.processes = 4, .has_devices = true, .comms = {{0, 1}, {2, 3}, {1, 2}}}, meetings);
    expect_gapless(Found(run));
    for (std::uint32_t process = 0; process < 4; ++process) {
      test::add_steps(run, process, {{0, 0, 500}, {1, 500, 500}, {2, 1000, 900}});
    }
    expect_gapless(Found(run));
  }
}

}  // namespace
}  // namespace jaxprof::study

// Members that did not do as the others did: each case is made of a run in which all do the same.
#include "merge/match/call_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/match/matched_calls.h"

namespace jaxprof::match {
namespace {

using runfile::Coll;
using testing::IsEmpty;
using testing::SizeIs;

// One call of a member in the order in which it is made.
struct Made {
  Coll coll;
  std::uint64_t seq;
};

// Steps of three AllReduces and one AllGather.
std::vector<Made> program(std::uint64_t steps) {
  std::vector<Made> calls;
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::uint64_t i = 0; i < 3; ++i) calls.push_back({Coll::kAllReduce, 3 * step + i});
    calls.push_back({Coll::kAllGather, step});
  }
  return calls;
}

class CallOrderTest : public testing::Test {
 protected:
  explicit CallOrderTest(std::uint32_t members = 4, std::uint64_t steps = 100) : made_(members, program(steps)) {}

  void swap(std::uint32_t member, std::size_t a, std::size_t b) { std::swap(made_[member][a], made_[member][b]); }
  // Its records, as of a block that was lost.
  void lose(std::uint32_t member, std::size_t first, std::size_t count = 1) {
    const auto begin = made_[member].begin() + static_cast<std::ptrdiff_t>(first);
    made_[member].erase(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  // Time of the call at `place` on all members, but for some ns.
  static std::int64_t time_of(std::size_t place) { return 1000 * static_cast<std::int64_t>(place); }

  std::vector<CallFinding> findings(std::size_t budget_bytes = 1 << 20) {
    std::vector<CallRecord> calls;
    const std::vector<Made> all = program(made_[0].size());
    for (std::uint32_t member = 0; member < made_.size(); ++member) {
      for (std::size_t i = 0; i < made_[member].size(); ++i) {
        CallRecord call = test::call_of(member, made_[member][i].seq, calls.size());
        call.coll = made_[member][i].coll;
        call.order = i;
        const auto same = std::find_if(all.begin(), all.end(), [&call](const Made& made) {
          return made.coll == call.coll && made.seq == call.seq;
        });
        call.enqueue_ns = time_of(static_cast<std::size_t>(same - all.begin())) + member;
        calls.push_back(call);
      }
    }
    const test::TempFolder folder;
    CallOrder order(openings_ns_, folder.path(), budget_bytes);
    for (const InstanceBatch& batch : test::matched(test::facts_of(8), calls).batches) EXPECT_TRUE(order.add(batch));
    auto found = order.finish();
    EXPECT_TRUE(found);
    return found ? *found : std::vector<CallFinding>{};
  }

  std::vector<std::vector<Made>> made_;  // by member
  std::vector<std::vector<std::int64_t>> openings_ns_;
};

TEST_F(CallOrderTest, SaysNothingOfMembersThatDoTheSame) {
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(CallOrderTest, FindsACallThatAMemberLacks) {
  lose(2, 50);  // AllReduce 38
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kMissing);
  EXPECT_EQ(found[0].process, 2u);
  EXPECT_EQ(found[0].comm_rank, 2);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[0].coll, Coll::kAllReduce);
  EXPECT_EQ(found[0].seq, 38u);
  EXPECT_EQ(found[0].time_ns, time_of(50)) << "the first of the others";
}

// Of its function it is the last, so that no number shows that it is missing in the middle.
TEST_F(CallOrderTest, FindsTheLastOfAFunctionThatIsFollowedByAnother) {
  for (std::vector<Made>& calls : made_) calls.push_back({Coll::kBroadcast, 0});
  for (std::vector<Made>& calls : made_) calls.push_back({Coll::kAllReduce, 300});
  lose(1, 400);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kMissing);
  EXPECT_EQ(found[0].coll, Coll::kBroadcast);
}

TEST_F(CallOrderTest, FindsTwoCallsThatAMemberSwapped) {
  swap(1, 42, 43);  // AllReduce 32 and AllGather 10
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kSwapped);
  EXPECT_EQ(found[0].process, 1u);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[0].coll, Coll::kAllGather);
  EXPECT_EQ(found[0].seq, 10u);
  EXPECT_TRUE(found[0].is_early);
  EXPECT_FALSE(found[0].is_even);
}

TEST_F(CallOrderTest, NamesTheCallThatWasPutOff) {
  const Made gather = made_[3][43];
  lose(3, 43);
  made_[3].insert(made_[3].begin() + 49, gather);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kSwapped);
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[0].seq, 10u);
  EXPECT_FALSE(found[0].is_early);
}

TEST_F(CallOrderTest, FindsAMemberThatSwapsThemInEveryStep) {
  for (std::size_t step = 0; step < 100; ++step) swap(3, 4 * step + 2, 4 * step + 3);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kSwapped);
  EXPECT_EQ(found[0].count, 100u);
  EXPECT_EQ(found[0].coll, Coll::kAllGather);
  EXPECT_EQ(found[0].seq, 0u);
}

// Its later calls then carry lower numbers than those of the others that they go with, and the last number is lacking.
TEST_F(CallOrderTest, AMemberThatNeverMadeACallSwapsFromThereOn) {
  for (std::size_t i = 42; i < made_[2].size(); ++i) {
    if (made_[2][i].coll == Coll::kAllReduce) --made_[2][i].seq;
  }
  made_[2].erase(made_[2].begin() + 41);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].what, Deviation::kMissing);
  EXPECT_EQ(found[0].seq, 299u);
  EXPECT_EQ(found[1].what, Deviation::kSwapped);
  EXPECT_EQ(found[1].process, 2u);
  EXPECT_EQ(found[1].coll, Coll::kAllGather);
  EXPECT_EQ(found[1].seq, 10u) << "the first behind it";
}

TEST_F(CallOrderTest, WhatAMemberLacksAtItsEndsIsNotMissing) {
  lose(1, 0, 4);
  lose(2, 390, 10);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].what, Deviation::kLateStart);
  EXPECT_EQ(found[0].process, 1u);
  EXPECT_EQ(found[0].count, 4u);
  EXPECT_EQ(found[0].seq, 3u) << "its first call";
  EXPECT_EQ(found[0].time_ns, time_of(4) + 1);
  EXPECT_EQ(found[1].what, Deviation::kEarlyEnd);
  EXPECT_EQ(found[1].process, 2u);
  EXPECT_EQ(found[1].count, 10u);
}

TEST_F(CallOrderTest, AMemberThatBeganEarlierMakesNobodyLate) {
  for (std::uint32_t member = 0; member < 3; ++member) lose(member, 0, 4);
  EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(CallOrderTest, WhatLiesBetweenTwoOpeningsOfAWindowIsNotMissing) {
  lose(1, 100, 50);
  openings_ns_ = {{0}, {0, time_of(150)}};
  EXPECT_THAT(findings(), IsEmpty());
  lose(1, 50);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kMissing);
  EXPECT_EQ(found[0].count, 1u);
}

TEST_F(CallOrderTest, SeveralDeviationsAreToldApart) {
  lose(0, 20, 3);
  lose(3, 0, 8);
  swap(3, 202, 203);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].what, Deviation::kMissing);
  EXPECT_EQ(found[0].process, 0u);
  EXPECT_EQ(found[0].count, 3u);
  EXPECT_EQ(found[1].what, Deviation::kSwapped);
  EXPECT_EQ(found[1].process, 3u);
  EXPECT_EQ(found[1].count, 1u);
  EXPECT_EQ(found[2].what, Deviation::kLateStart);
  EXPECT_EQ(found[2].count, 8u);
}

class CallOrderOfTwo : public CallOrderTest {
 protected:
  CallOrderOfTwo() : CallOrderTest(2) {}
};

TEST_F(CallOrderOfTwo, CannotTellWhichOfTheTwoSwapped) {
  swap(0, 42, 43);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].what, Deviation::kSwapped);
  EXPECT_TRUE(found[0].is_even);
  EXPECT_EQ(found[0].count, 1u);
}

TEST_F(CallOrderOfTwo, FindsWhatEachLacks) {
  lose(0, 20);
  lose(1, 60, 2);
  const auto found = findings();
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].count, 1u);
  EXPECT_EQ(found[1].count, 2u);
}

TEST_F(CallOrderTest, FindsTheSameWithinAnyBudget) {
  lose(1, 30);
  swap(2, 10, 11);
  const auto expected = findings();
  ASSERT_THAT(expected, SizeIs(2));
  const auto found = findings(3000);
  ASSERT_THAT(found, SizeIs(2));
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_EQ(found[i].what, expected[i].what);
    EXPECT_EQ(found[i].count, expected[i].count);
    EXPECT_EQ(found[i].seq, expected[i].seq);
  }
}

}  // namespace
}  // namespace jaxprof::match

#include "merge/match/nvtx_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/unit/match/loaded_process.h"

namespace jaxprof::match {
namespace {

using spool::EventKind;
using test::LoadedProcess;
using test::Recording;

TEST(NvtxRanges, NestsRangesByThreadAndDomain) {
  Recording recording;
  recording.domain(1, "lib");
  recording.push(1, 0, 0, "outer", 10);
  recording.push(1, 1, 0, "other domain", 11);
  recording.push(1, 0, 1, "inner", 12);
  recording.push(2, 0, 0, "other thread", 13);
  recording.pop(1, 0, 1, 14);
  recording.pop(1, 0, 0, 15);
  recording.pop(2, 0, 0, 16);
  recording.pop(1, 1, 0, 17);
  const LoadedProcess process(recording);
  const auto& ranges = process.ranges().ranges;
  ASSERT_EQ(ranges.size(), 4u);
  EXPECT_EQ(ranges[0].end, 15u);
  EXPECT_EQ(ranges[0].parent, kNoRange);
  EXPECT_EQ(ranges[1].end, 17u);
  EXPECT_EQ(ranges[1].parent, kNoRange) << "of another domain";
  EXPECT_EQ(ranges[2].end, 14u);
  EXPECT_EQ(ranges[2].parent, 0u);
  EXPECT_EQ(ranges[2].depth, 1);
  EXPECT_EQ(ranges[3].parent, kNoRange);
  EXPECT_EQ(process.ranges().never_ended, 0u);
  EXPECT_EQ(process.ranges().ends_without_start, 0u);
}

TEST(NvtxRanges, ALostPopCostsItsOwnEndOnly) {
  Recording recording;
  recording.push(1, 0, 0, "outer", 10);
  recording.push(1, 0, 1, "its pop is lost", 11);
  recording.push(1, 0, 1, "next", 13);
  recording.pop(1, 0, 1, 14);
  recording.pop(1, 0, 0, 15);
  const LoadedProcess process(recording);
  const auto& ranges = process.ranges().ranges;
  EXPECT_FALSE(ranges[1].has_end);
  EXPECT_EQ(ranges[2].end, 14u);
  EXPECT_EQ(ranges[2].parent, 0u);
  EXPECT_EQ(ranges[0].end, 15u);
  EXPECT_EQ(process.ranges().never_ended, 1u);
}

TEST(NvtxRanges, ALostPushCostsItsOwnRangeOnly) {
  Recording recording;
  recording.push(1, 0, 0, "outer", 10);
  recording.push(1, 0, 2, "inside the lost one", 12);
  recording.pop(1, 0, 2, 13);
  recording.pop(1, 0, 1, 14);
  recording.pop(1, 0, 0, 15);
  const LoadedProcess process(recording);
  const auto& ranges = process.ranges().ranges;
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[1].end, 13u);
  EXPECT_EQ(ranges[1].parent, 0u);
  EXPECT_EQ(ranges[0].end, 15u);
  EXPECT_EQ(process.ranges().ends_without_start, 1u);
}

TEST(NvtxRanges, APopAfterALossDoesNotEndWhatEndedUnseen) {
  Recording recording;
  recording.push(1, 0, 0, "first", 10);
  // lost: the pop of "first", and the push of "second"
  recording.event(1, EventKind::kNvtxPop, 0, 20, {0, 0 + 1});
  const LoadedProcess process(recording);
  EXPECT_FALSE(process.ranges().ranges[0].has_end);
  EXPECT_EQ(process.ranges().ends_without_start, 1u);
}

TEST(NvtxRanges, StartsAndEndsMeetOverThreadsInAnyOrderOfTheFile) {
  Recording recording;
  recording.event(2, EventKind::kNvtxEnd, 0, 50, {77});  // this thread's block came first
  recording.event(1, EventKind::kNvtxStart, recording.string("a"), 10, {0, 0, 0, 77});
  recording.event(1, EventKind::kNvtxStart, recording.string("b"), 11, {0, 0, 0, 78});
  recording.event(2, EventKind::kNvtxEnd, 0, 60, {78});
  recording.event(2, EventKind::kNvtxEnd, 0, 61, {79});
  const LoadedProcess process(recording);
  const auto& ranges = process.ranges().ranges;
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].end, 50u);
  EXPECT_EQ(ranges[1].end, 60u);
  EXPECT_EQ(ranges[1].kind, RangeKind::kStartEnd);
  EXPECT_EQ(process.ranges().ends_without_start, 1u);
}

TEST(NvtxRanges, MarksLieInTheRangeAroundThem) {
  Recording recording;
  recording.push(1, 0, 0, "outer", 10);
  recording.event(1, EventKind::kNvtxMark, recording.string("m"), 11,
                  {spool::pack(spool::NvtxContext{0, 0, 6}), 1, 42});
  const LoadedProcess process(recording);
  const NvtxRange& mark = process.ranges().ranges.at(1);
  EXPECT_EQ(mark.kind, RangeKind::kMark);
  EXPECT_EQ(mark.parent, 0u);
  EXPECT_EQ(mark.end, 11u);
  EXPECT_EQ(mark.category, 6u);
  EXPECT_EQ(mark.payload, 42u);
}

// ---- random ranges with random losses ----------------------------------------------------------------------------

struct TrueRange {
  std::uint64_t start;
  std::uint64_t end = 0;
  bool is_start_recorded;
  bool is_end_recorded = false;
};

// A thread's use of one domain, as the agent would record it if it lost events at random: alone and in runs, as a full
// ring does.
class LossyDomain {
 public:
  LossyDomain(std::uint32_t thread, std::uint32_t domain) : thread_(thread), domain_(domain) {}

  void step(std::mt19937* random, std::uint64_t stamp, bool is_lost, Recording* recording,
            std::vector<TrueRange>* truth) {
    const auto depth = static_cast<std::uint16_t>(open_.size());
    const bool is_push = open_.empty() || (open_.size() < 6 && (*random)() % 2 == 0);
    if (is_push) {
      open_.push_back(truth->size());
      truth->push_back({stamp, 0, !is_lost});
      if (!is_lost) {
        const std::uint64_t context = spool::pack(spool::NvtxContext{static_cast<std::uint16_t>(domain_), depth, 0});
        std::vector<std::uint64_t> fields = {context};
        if (unseen_ends_ != 0) fields = {context, 0, 0, std::exchange(unseen_ends_, 0)};
        recording->event(thread_, EventKind::kNvtxPush, recording->string("r"), stamp, fields);
      }
      return;
    }
    TrueRange& range = (*truth)[open_.back()];
    open_.pop_back();
    range.end = stamp;
    range.is_end_recorded = !is_lost;
    const std::uint64_t closed = depth - 1U;
    if (is_lost) {
      unseen_ends_ = unseen_ends_ == 0 ? closed + 1 : std::min(unseen_ends_, closed + 1);
    } else {
      std::vector<std::uint64_t> fields = {closed};
      if (unseen_ends_ != 0) fields.push_back(std::exchange(unseen_ends_, 0));
      recording->event(thread_, EventKind::kNvtxPop, domain_, stamp, fields);
    }
  }

 private:
  std::uint32_t thread_;
  std::uint32_t domain_;
  std::vector<std::size_t> open_;
  std::uint64_t unseen_ends_ = 0;
};

TEST(NvtxRanges, RandomLossesNeverShiftAPair) {
  std::mt19937 random(10);
  for (int round = 0; round < 100; ++round) {
    Recording recording;
    recording.domain(1, "lib");
    std::vector<LossyDomain> domains;
    for (std::uint32_t thread = 1; thread <= 3; ++thread) {
      for (std::uint32_t domain = 0; domain <= 1; ++domain) domains.emplace_back(thread, domain);
    }
    std::vector<TrueRange> truth;
    const unsigned loss_percent = static_cast<unsigned>(round) % 50;
    int losing = 0;  // events still to lose in a run
    for (std::uint64_t stamp = 1; stamp <= 600; ++stamp) {
      if (losing == 0 && random() % 100 < loss_percent) losing = static_cast<int>(1 + random() % 8);
      const bool is_lost = losing > 0;
      losing -= is_lost ? 1 : 0;
      domains[random() % domains.size()].step(&random, stamp, is_lost, &recording, &truth);
    }
    std::map<std::uint64_t, const TrueRange*> by_start;
    std::size_t recorded_starts = 0;
    for (const TrueRange& range : truth) {
      if (range.is_start_recorded) by_start[range.start] = &range;
      recorded_starts += range.is_start_recorded ? 1 : 0;
    }
    const LoadedProcess process(recording);
    ASSERT_EQ(process.ranges().ranges.size(), recorded_starts);
    for (const NvtxRange& range : process.ranges().ranges) {
      const TrueRange& real = *by_start.at(range.start);
      ASSERT_EQ(range.has_end, real.is_end_recorded) << "round " << round << ", range at " << range.start;
      ASSERT_EQ(range.end, real.is_end_recorded ? real.end : 0) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace jaxprof::match

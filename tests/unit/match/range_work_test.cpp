// Ranges and launches made by hand, with the answer that a person would give; and random nests against the slow answer.
#include "merge/match/range_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

using runfile::add_row;
using runfile::kNoIndex;
using runfile::kNoTime;

constexpr std::uint64_t kTid = 7;

struct Case {
  runfile::NvtxTable ranges;
  GpuWork work;

  std::size_t range(std::int64_t start_ns, std::int64_t end_ns, std::uint64_t parent = runfile::kNoRow,
                    std::uint64_t tid = kTid, std::uint32_t domain = 0) {
    const std::size_t row = add_row(ranges);
    ranges.start_ns[row] = start_ns;
    ranges.dur_ns[row] = end_ns < 0 ? kNoTime : end_ns - start_ns;
    ranges.tid[row] = tid;
    ranges.domain[row] = static_cast<runfile::StringId>(domain);
    ranges.parent[row] = parent;
    ranges.kind[row] = runfile::NvtxKind::kPushPop;
    return row;
  }
  // A kernel that runs in [start, end], launched at `called_ns`.
  void kernel(std::int64_t called_ns, std::int64_t start_ns, std::int64_t end_ns, std::uint64_t tid = kTid) {
    const std::size_t api = add_row(work.api);
    work.api.start_ns[api] = called_ns;
    work.api.dur_ns[api] = 1;
    work.api.tid[api] = tid;
    const std::size_t row = add_row(work.kernels);
    work.kernels.api[row] = api;
    work.kernels.start_ns[row] = start_ns;
    work.kernels.dur_ns[row] = end_ns < 0 ? kNoTime : end_ns - start_ns;
  }
  void expect(std::size_t row, std::int64_t start_ns, std::int64_t dur_ns, std::uint32_t ops) {
    EXPECT_EQ(ranges.gpu_start_ns[row], start_ns) << "row " << row;
    EXPECT_EQ(ranges.gpu_dur_ns[row], dur_ns) << "row " << row;
    EXPECT_EQ(ranges.gpu_ops[row], ops) << "row " << row;
  }
};

TEST(RangeWork, CountsForTheRangeAndForThoseAroundIt) {
  Case made;
  const std::size_t outer = made.range(0, 100);
  const std::size_t first = made.range(10, 20, outer);
  const std::size_t second = made.range(30, 40, outer);
  made.kernel(15, 1000, 1100);
  made.kernel(25, 1100, 1300);
  made.kernel(35, 1300, 1350);
  project_ranges(made.work, &made.ranges);
  made.expect(first, 1000, 100, 1);
  made.expect(second, 1300, 50, 1);
  made.expect(outer, 1000, 350, 3);
}

TEST(RangeWork, OfAnotherThreadOrAfterTheEndIsNotTheRanges) {
  Case made;
  const std::size_t range = made.range(0, 100);
  made.kernel(50, 1000, 1100, kTid + 1);
  made.kernel(101, 1000, 1100);
  project_ranges(made.work, &made.ranges);
  made.expect(range, kNoTime, kNoTime, 0);
}

TEST(RangeWork, EachDomainIsANestOfItsOwn) {
  Case made;
  const std::size_t one = made.range(0, 60, runfile::kNoRow, kTid, 1);
  const std::size_t two = made.range(10, 100, runfile::kNoRow, kTid, 2);  // they overlap: other domains may
  made.kernel(50, 1000, 1100);
  made.kernel(80, 1200, 1300);
  project_ranges(made.work, &made.ranges);
  made.expect(one, 1000, 100, 1);
  made.expect(two, 1000, 300, 2);
}

TEST(RangeWork, WhatNeverEndedAndWhatIsNoPushedRangeIsNotTold) {
  Case made;
  const std::size_t never = made.range(0, -1);
  const std::size_t mark = made.range(5, 5);
  made.ranges.kind[mark] = runfile::NvtxKind::kMark;
  made.kernel(50, 1000, 1100);
  project_ranges(made.work, &made.ranges);
  made.expect(never, kNoTime, kNoTime, kNoIndex);
  made.expect(mark, kNoTime, kNoTime, kNoIndex);
}

TEST(RangeWork, WorkWithoutTimesIsCounted) {
  Case made;
  const std::size_t range = made.range(0, 100);
  made.kernel(50, kNoTime, -1);
  made.kernel(60, 1000, 1100);
  project_ranges(made.work, &made.ranges);
  made.expect(range, 1000, 100, 2);
}

TEST(RangeWork, WithoutLaunchesNothingIsKnown) {
  Case made;
  const std::size_t range = made.range(0, 100);
  project_ranges(made.work, &made.ranges);
  made.expect(range, kNoTime, kNoTime, kNoIndex);
}

TEST(RangeWork, RandomNestsAgreeWithLookingAtEveryPair) {
  std::mt19937 random{3};
  for (int round = 0; round < 50; ++round) {
    Case made;
    std::vector<std::size_t> open;
    std::int64_t now_ns = 0;
    std::vector<std::pair<std::int64_t, std::int64_t>> calls;  // when, and when the work starts
    for (int step = 0; step < 200; ++step) {
      now_ns += 1 + static_cast<std::int64_t>(random() % 5);
      switch (random() % 3) {
        case 0:
          open.push_back(made.range(now_ns, now_ns, open.empty() ? runfile::kNoRow : open.back()));
          break;
        case 1:
          if (open.empty()) break;
          made.ranges.dur_ns[open.back()] = now_ns - made.ranges.start_ns[open.back()];
          open.pop_back();
          break;
        default:
          calls.emplace_back(now_ns, 100'000 + static_cast<std::int64_t>(random() % 10'000));
          made.kernel(calls.back().first, calls.back().second, calls.back().second + 7);
      }
    }
    for (; !open.empty(); open.pop_back()) made.ranges.dur_ns[open.back()] = now_ns - made.ranges.start_ns[open.back()];
    project_ranges(made.work, &made.ranges);
    for (std::size_t row = 0; row < made.ranges.start_ns.size() && !calls.empty(); ++row) {
      std::int64_t first_ns = INT64_MAX;
      std::int64_t last_ns = 0;
      std::uint32_t ops = 0;
      for (const auto& [called_ns, start_ns] : calls) {
        const std::int64_t begin_ns = made.ranges.start_ns[row];
        if (called_ns < begin_ns || called_ns > begin_ns + made.ranges.dur_ns[row]) continue;
        ++ops;
        first_ns = std::min(first_ns, start_ns);
        last_ns = std::max(last_ns, start_ns + 7);
      }
      made.expect(row, ops > 0 ? first_ns : kNoTime, ops > 0 ? last_ns - first_ns : kNoTime, ops);
    }
  }
}

}  // namespace
}  // namespace jaxprof::match

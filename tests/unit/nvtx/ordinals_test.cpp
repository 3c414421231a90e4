// The numbers that the agent gives to NCCL's calls where only their ranges are seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::nvtx {
namespace {

using spool::EventKind;
using test::ChildRun;
using test::ThreadEvent;
using testing::Each;
using testing::ElementsAre;

// kCallOrdinal of the pushes of all domains but the default one, in file order.
std::vector<std::uint64_t> ordinals(const rundir::SpoolTrace& trace) {
  std::vector<std::uint64_t> found;
  for (const ThreadEvent& e : test::events_of(trace)) {
    const auto context = spool::unpack_nvtx_context(e.event.fields[spool::nvtx_field::kContext]);
    if (e.event.kind == EventKind::kNvtxPush && context.domain != 0)
      found.push_back(e.event.fields[spool::nvtx_field::kCallOrdinal]);
  }
  return found;
}

void set_window(ChildRun* child) {
  ASSERT_EQ(parse_capture_range("nvtx:window", &child->plan().window), nullptr);
  child->plan().window.end = WindowEnd::kStop;
}

TEST(NcclOrdinals, CountPerFunctionCommunicatorAndPeer) {
  ChildRun child;
  ASSERT_EQ(child.run(JAXPROF_CHILD, "counted"), 0);
  EXPECT_THAT(ordinals(child.trace()), ElementsAre(1, 2, 1, 1, 1, 1, 2, 3));
}

TEST(NcclOrdinals, AreLeftOutWhereNoCommunicatorIsNamed) {
  ChildRun child;
  ASSERT_EQ(child.run(JAXPROF_CHILD, "not_counted"), 0);
  const std::vector<std::uint64_t> found = ordinals(child.trace());
  EXPECT_EQ(found.size(), 6u);
  EXPECT_THAT(found, Each(0u));
}

TEST(NcclOrdinals, CountWhatHappenedOutsideTheWindow) {
  ChildRun child;
  set_window(&child);
  ASSERT_EQ(child.run(JAXPROF_CHILD, "in_a_window"), 0);
  EXPECT_THAT(ordinals(child.trace()), ElementsAre(6, 7, 8));
}

TEST(NcclOrdinals, WithoutNcclInTheTraceAreNot) {
  ChildRun child;
  child.plan().trace = kDefaultTrace & ~static_cast<std::uint32_t>(kTraceNccl);
  ASSERT_EQ(child.run(JAXPROF_CHILD, "counted"), 0);
  EXPECT_TRUE(ordinals(child.trace()).empty());
}

TEST(NcclOrdinals, OfAllThreadsAreOneSequence) {
  ChildRun child;
  ASSERT_EQ(child.run(JAXPROF_CHILD, "every_thread"), 0);
  ASSERT_EQ(child.all_drops(), 0u);
  std::map<std::uint64_t, int> seen;
  for (const std::uint64_t ordinal : ordinals(child.trace())) ++seen[ordinal];
  // 800 calls on the one communicator; 25 to each of four peers on each thread's own.
  EXPECT_EQ(seen.size(), 800u);
  EXPECT_EQ(seen.begin()->first, 1u);
  EXPECT_EQ(seen.rbegin()->first, 800u);
  EXPECT_EQ(seen[1], 1 + 8 * 4);
  EXPECT_EQ(seen[25], 1 + 8 * 4);
  EXPECT_EQ(seen[26], 1);
}

TEST(NcclOrdinals, BeyondTheBoundAreLeftOutAndNeverWrong) {
  ChildRun child;
  set_window(&child);
  child.plan().ring_bytes = 1 << 20;  // room for all, however late the drain thread is
  ASSERT_EQ(child.run(JAXPROF_CHILD, "too_many"), 0);
  ASSERT_EQ(child.all_drops(), 0u);
  const std::vector<std::uint64_t> found = ordinals(child.trace());
  ASSERT_EQ(found.size(), 800u);
  const auto second = std::count(found.begin(), found.end(), 2u);
  EXPECT_EQ(second + std::count(found.begin(), found.end(), 0u), 800);
  EXPECT_GT(second, 600);
  EXPECT_LT(second, 800);
}

}  // namespace
}  // namespace jaxprof::nvtx

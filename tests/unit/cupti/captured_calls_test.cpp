#include "agent/cupti/captured_calls.h"

#include <gtest/gtest.h>

#include <memory>

namespace jaxprof::cupti {
namespace {

TEST(CapturedCalls, KnowsTheCallInWhichANodeWasMade) {
  const auto calls = std::make_unique<CapturedCalls>();
  EXPECT_FALSE(calls->has_node(7, 0, 100));
  calls->note_node(7, 1'000);
  calls->note_node(8, 1'010);
  EXPECT_TRUE(calls->has_node(7, 990, 1'020));
  EXPECT_FALSE(calls->has_node(9, 990, 1'020)) << "of another thread";
  EXPECT_FALSE(calls->has_node(7, 1'001, 1'020)) << "before the call";
  EXPECT_FALSE(calls->has_node(7, 900, 999)) << "after it";
}

TEST(CapturedCalls, FindsNodesThatOtherThreadsWroteDownEarlier) {
  const auto calls = std::make_unique<CapturedCalls>();
  calls->note_node(7, 2'000'000);
  calls->note_node(8, 1'000'000);
  EXPECT_TRUE(calls->has_node(7, 1'999'000, 2'001'000));
}

TEST(CapturedCalls, KnowsTheLatestOfMany) {
  const auto calls = std::make_unique<CapturedCalls>();
  for (std::uint64_t i = 1; i <= 100'000; ++i) calls->note_node(7, i * 1'000);
  EXPECT_TRUE(calls->has_node(7, 99'999'500, 100'000'500));
  EXPECT_TRUE(calls->has_node(7, 89'999'500, 90'000'500));
  EXPECT_FALSE(calls->has_node(7, 999'500, 1'000'500));
}

}  // namespace
}  // namespace jaxprof::cupti

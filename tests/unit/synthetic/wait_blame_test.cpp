#include "tests/synthetic/wait_blame.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/simulator/sim_random.h"

namespace jaxprof::synthetic {
namespace {

using ::testing::ElementsAre;

TEST(WaitAndBlame, OneLateMemberHasAllTheBlame) {
  const WaitBlame split = wait_and_blame({10, 10, 70, 10});
  EXPECT_THAT(split.wait_ns, ElementsAre(60, 60, 0, 60));
  EXPECT_THAT(split.blame_ns, ElementsAre(0, 0, 180, 0));
}

TEST(WaitAndBlame, ThoseWhoAreNotThereYetShareWhatTheOthersWait) {
  const WaitBlame split = wait_and_blame({0, 30, 90});
  EXPECT_THAT(split.wait_ns, ElementsAre(90, 60, 0));
  // 30 ns of one are the fault of two, 60 ns of two that of the last.
  EXPECT_THAT(split.blame_ns, ElementsAre(0, 15, 135));
}

TEST(WaitAndBlame, BlamesAsMuchAsIsWaited) {
  test::SimRandom random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> arrival_ns(2 + random.next() % 30);
    for (std::int64_t& t : arrival_ns) t = static_cast<std::int64_t>(random.next() % 50);  // some at once
    const WaitBlame split = wait_and_blame(arrival_ns);
    EXPECT_NEAR(std::accumulate(split.wait_ns.begin(), split.wait_ns.end(), 0.0),
                std::accumulate(split.blame_ns.begin(), split.blame_ns.end(), 0.0), 1e-6);
  }
}

}  // namespace
}  // namespace jaxprof::synthetic

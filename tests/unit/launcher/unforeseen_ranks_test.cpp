#include "launcher/unforeseen_ranks.h"

#include <gtest/gtest.h>

#include <memory>

namespace jaxprof::launcher {
namespace {

class UnforeseenRanks : public testing::Test {
 protected:
  UnforeseenRanks() { set(&page_->plan.task_rank, 0, 2); }

  static void set(RankIdentity* rank, std::int32_t number, std::int32_t world_size) {
    rank->rank = number;
    rank->world_size = world_size;
  }
  void process(std::int32_t rank, std::int32_t world_size, SlotState state = SlotState::kEnded) {
    std::uint32_t index = 0;
    ProcessSlot* slot = claim_slot(page_.get(), &index);
    set(&slot->rank, rank, world_size);
    slot->state.store(state);
  }
  std::string found() const { return describe_unforeseen_ranks(*page_, "bash"); }

  std::unique_ptr<SessionPage> page_ = std::make_unique<SessionPage>();
};

TEST_F(UnforeseenRanks, AreNamedWithTheOption) {
  process(0, 2);
  process(3, 4, SlotState::kNotSelected);
  EXPECT_EQ(found(),
            "bash has started ranks of its own (rank 3 of 4 behind rank 0 of 2), which jaxprof-exec did not expect: "
            "give it --inner-ranks, and their ranks are selected and counted");
}

TEST_F(UnforeseenRanks, AreNotTheTasksOwnAndNotUnknownOnes) {
  process(0, 2);
  process(-1, -1);
  process(5, 8, SlotState::kStarting);
  EXPECT_EQ(found(), "") << "who is still starting may not have a rank yet";
}

TEST_F(UnforeseenRanks, AreNotThoseOfALauncherOrOfATaskWithoutARank) {
  process(1, 4);
  page_->plan.has_inner_ranks = 1;
  EXPECT_EQ(found(), "");
  page_->plan.has_inner_ranks = 0;
  page_->plan.task_rank = RankIdentity();
  EXPECT_EQ(found(), "");
}

}  // namespace
}  // namespace jaxprof::launcher

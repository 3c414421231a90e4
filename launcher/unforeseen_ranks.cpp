#include "launcher/unforeseen_ranks.h"

#include <algorithm>

namespace jaxprof::launcher {
namespace {

std::string describe(const RankIdentity& rank) {
  return "rank " + std::to_string(rank.rank) +
         (rank.world_size > 0 ? " of " + std::to_string(rank.world_size) : std::string());
}

}  // namespace

std::string describe_unforeseen_ranks(const SessionPage& page, const std::string& program) {
  const SessionPlan& plan = page.plan;
  if (plan.has_inner_ranks != 0 || !plan.task_rank.is_known()) return {};
  const std::uint32_t claimed = std::min(page.claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
  for (std::uint32_t i = 0; i < claimed; ++i) {
    const ProcessSlot& slot = page.slots[i];
    if (slot.state.load(std::memory_order_acquire) <= SlotState::kStarting) continue;
    if (!slot.rank.is_known() || is_rank_of_task(plan, slot.rank)) continue;
    return program + " has started ranks of its own (" + describe(slot.rank) + " behind " + describe(plan.task_rank) +
           "), which jaxprof-exec did not expect: give it --inner-ranks, and their ranks are selected and counted";
  }
  return {};
}

}  // namespace jaxprof::launcher

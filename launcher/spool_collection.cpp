#include "launcher/spool_collection.h"

#include <algorithm>
#include <string>
#include <utility>

namespace jaxprof::launcher {

SpoolCollection::SpoolCollection(SpoolSource source) : source_(std::move(source)), names_(source_) {}

void SpoolCollection::find_processes() {
  const std::uint32_t claimed = source_.page->claimed_slots.load(std::memory_order_acquire);
  for (auto i = static_cast<std::uint32_t>(copies_.size()); i < std::min(claimed, kMaxProcessSlots); ++i) {
    copies_.push_back(std::make_unique<SlotCopy>(source_, i));
  }
}

// Made when it is needed: most tasks never record anything for most of the time.
std::span<char> SpoolCollection::room() {
  room_.resize(spool::Publisher::kPieceBytes);
  return room_;
}

void SpoolCollection::pass(const Pace& pace) {
  find_processes();
  for (const auto& copy : copies_) {
    if (!pace.may_go_on()) return;
    copy->advance(names_, pace, room());
  }
}

std::vector<PublishedProcess> SpoolCollection::finish(const spool::IsTimeUp& is_time_up) {
  const auto may_go_on = [&is_time_up] { return !is_time_up(); };
  const Pace pace{may_go_on, may_go_on, [](std::uint64_t) {}};
  find_processes();
  std::vector<PublishedProcess> processes;
  for (const auto& copy : copies_) processes.push_back(copy->finish(names_, pace, room()));
  names_.release_unused();
  return processes;
}

std::vector<std::string> SpoolCollection::notes() const {
  const std::uint32_t claimed = source_.page->claimed_slots.load(std::memory_order_acquire);
  const std::uint32_t strangers = source_.page->stranger_processes.load(std::memory_order_relaxed);
  std::vector<std::string> notes;
  if (strangers > 0) {
    notes.push_back(std::to_string(strangers) + (strangers == 1 ? " process" : " processes") +
                    " of another job step or node had this task's environment: not recorded");
  }
  if (claimed == 0 && strangers == 0) notes.push_back("no process called NVTX, CUDA or NCCL");
  if (claimed > kMaxProcessSlots) {
    notes.push_back(std::to_string(claimed - kMaxProcessSlots) + " more processes than the session page has slots (" +
                    std::to_string(kMaxProcessSlots) + ") were not recorded");
  }
  return notes;
}

}  // namespace jaxprof::launcher

#include "launcher/spool_collection.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "agent/base/directory_listing.h"
#include "agent/base/parse_number.h"
#include "agent/contract/local_layout.h"
#include "launcher/child_environment.h"

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
  for (PublishedProcess& process : unattached_processes()) processes.push_back(std::move(process));
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
  if (claimed == 0 && strangers == 0 && unattached_processes().empty())
    notes.push_back(describe_silence(source_.page->plan));
  return notes;
}

// Those that could not open the page left a folder of their name each; those that found no slot are counted only.
std::vector<PublishedProcess> SpoolCollection::unattached_processes() const {
  std::vector<PublishedProcess> processes;
  const std::uint32_t claimed = source_.page->claimed_slots.load(std::memory_order_acquire);
  if (claimed > kMaxProcessSlots) {
    PublishedProcess rest;
    rest.slot = -1;
    rest.state = "failed";
    rest.note = std::to_string(claimed - kMaxProcessSlots) + " more processes than one task can record (" +
                std::to_string(kMaxProcessSlots) + ")";
    processes.push_back(std::move(rest));
  }
  for (const std::string& name : list_directory(source_.spool_directory)) {
    if (!name.starts_with(kUnattachedPrefix)) continue;
    const std::string words = name.substr(std::strlen(kUnattachedPrefix));
    const auto pid = parse_uint64(words.substr(0, words.find('.')));
    const auto error = parse_uint64(words.substr(std::min(words.find('.'), words.size() - 1) + 1));
    if (!pid || !error || *pid > INT32_MAX || *error > INT32_MAX) continue;
    PublishedProcess process;
    process.slot = -1;
    process.pid = static_cast<std::int64_t>(*pid);
    process.state = "failed";
    process.note = "it could not open its session page";
    if (*error != 0) process.note += std::string(": ") + std::strerror(static_cast<int>(*error));
    processes.push_back(std::move(process));
  }
  return processes;
}

}  // namespace jaxprof::launcher

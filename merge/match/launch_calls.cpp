#include "merge/match/launch_calls.h"

#include <algorithm>
#include <map>
#include <utility>

namespace jaxprof::match {
namespace {

using spool::NcclEvent;

// Events of one type of one thread and communicator, by start.
using Place = std::pair<std::uint32_t, std::uint32_t>;
using Events = std::map<Place, std::vector<const PluginEvent*>>;

Events events_of(const PluginEvents& plugin, NcclEvent type) {
  Events events;
  for (const PluginEvent& event : plugin.all()) {
    if (event.type == type) events[{event.thread, event.communicator}].push_back(&event);
  }
  for (auto& [place, list] : events) {
    std::stable_sort(list.begin(), list.end(),
                     [](const PluginEvent* a, const PluginEvent* b) { return a->start < b->start; });
  }
  return events;
}

// The Group event that follows the launch, before the next one of its thread and communicator; null if none does.
const PluginEvent* group_after(const PluginEvent& launch, const PluginEvent* next_launch, const Events& groups) {
  const auto list = groups.find({launch.thread, launch.communicator});
  if (list == groups.end()) return nullptr;
  const auto group =
      std::lower_bound(list->second.begin(), list->second.end(), launch.start,
                       [](const PluginEvent* event, std::uint64_t start) { return event->start < start; });
  if (group == list->second.end()) return nullptr;
  return next_launch != nullptr && (*group)->start >= next_launch->start ? nullptr : *group;
}

// The group call of the thread that is around the launch, whatever communicator it began with; null if none is.
const PluginEvent* group_call_around(const PluginEvent& launch,
                                     const std::map<std::uint32_t, std::vector<const PluginEvent*>>& group_calls) {
  const auto list = group_calls.find(launch.thread);
  if (list == group_calls.end()) return nullptr;
  const auto after =
      std::upper_bound(list->second.begin(), list->second.end(), launch.start,
                       [](std::uint64_t start, const PluginEvent* event) { return start < event->start; });
  if (after == list->second.begin()) return nullptr;
  const PluginEvent* group = *(after - 1);
  return !group->has_stop || launch.start <= group->stop ? group : nullptr;
}

}  // namespace

LaunchCalls::LaunchCalls(const NcclCalls& calls, const PluginEvents& plugin) {
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_plan;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_group_call;
  for (std::size_t i = 0; i < calls.calls.size(); ++i) {
    const NcclCall& call = calls.calls[i];
    if (call.enqueued != 0) calls_[call.enqueued].push_back(i);
    if (call.replay != kNoAmount) continue;
    if (call.plan != 0) by_plan[call.plan].push_back(i);
    if (call.group_api != 0) by_group_call[call.group_api].push_back(i);
  }
  std::map<std::uint32_t, std::vector<const PluginEvent*>> group_calls;  // by thread, by start
  for (auto& [place, list] : events_of(plugin, NcclEvent::kGroupApi)) {
    auto& all = group_calls[place.first];
    all.insert(all.end(), list.begin(), list.end());
  }
  for (auto& [thread, list] : group_calls) {
    std::stable_sort(list.begin(), list.end(),
                     [](const PluginEvent* a, const PluginEvent* b) { return a->start < b->start; });
  }
  const Events groups = events_of(plugin, NcclEvent::kGroup);
  for (const auto& [place, launches] : events_of(plugin, NcclEvent::kKernelLaunch)) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const PluginEvent& launch = *launches[i];
      const PluginEvent* next = i + 1 < launches.size() ? launches[i + 1] : nullptr;
      const PluginEvent* group = group_after(launch, next, groups);
      const auto plan = group == nullptr ? by_plan.end() : by_plan.find(group->handle);
      if (plan != by_plan.end()) {
        add(launch, plan->second);
        continue;
      }
      const PluginEvent* around = group_call_around(launch, group_calls);
      const auto members = around == nullptr ? by_group_call.end() : by_group_call.find(around->handle);
      if (members == by_group_call.end()) continue;
      std::vector<std::size_t> chosen;
      for (const std::size_t index : members->second) {
        const NcclCall& call = calls.calls[index];
        const bool is_same_stream = call.stream == 0 || launch.stream == 0 || call.stream == launch.stream;
        const bool is_same_comm = call.communicator == 0 || call.communicator == launch.communicator;
        if (call.plan == 0 && is_same_stream && is_same_comm) chosen.push_back(index);
      }
      add(launch, chosen);
    }
  }
}

void LaunchCalls::add(const PluginEvent& launch, const std::vector<std::size_t>& calls) {
  calls_[launch.handle] = calls;
  for (const std::size_t call : calls) launches_[call].push_back(&launch);
}

const std::vector<std::size_t>& LaunchCalls::of(std::uint64_t handle) const {
  static const std::vector<std::size_t> kNone;
  const auto found = calls_.find(handle);
  return found == calls_.end() ? kNone : found->second;
}

const std::vector<const PluginEvent*>& LaunchCalls::launches_of(std::size_t call) const {
  static const std::vector<const PluginEvent*> kNone;
  const auto found = launches_.find(call);
  return found == launches_.end() ? kNone : found->second;
}

}  // namespace jaxprof::match

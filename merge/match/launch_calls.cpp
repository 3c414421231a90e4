#include "merge/match/launch_calls.h"

#include <algorithm>
#include <map>

#include "merge/match/stretches.h"

namespace jaxprof::match {
namespace {

using spool::NcclEvent;

using EventList = std::vector<const PluginEvent*>;

void sort_by_start(EventList* events) {
  const auto is_before = [](const PluginEvent* a, const PluginEvent* b) { return a->start < b->start; };
  if (!std::is_sorted(events->begin(), events->end(), is_before)) {
    std::stable_sort(events->begin(), events->end(), is_before);
  }
}

// Of one thread and communicator, by start.
struct Place {
  EventList launches;
  EventList groups;
};

class Places {
 public:
  explicit Places(const PluginEvents& plugin) {
    for (const PluginEvent& event : plugin.all()) {
      if (event.type == NcclEvent::kKernelLaunch) {
        place_of(event).launches.push_back(&event);
      } else if (event.type == NcclEvent::kGroup) {
        place_of(event).groups.push_back(&event);
      }
    }
    for (auto& [key, place] : all_) {
      sort_by_start(&place.launches);
      sort_by_start(&place.groups);
    }
  }
  const auto& all() const { return all_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;

  Place& place_of(const PluginEvent& event) {
    const Key key(event.thread, event.communicator);
    if (last_ == nullptr || last_key_ != key) {
      last_key_ = key;
      last_ = &all_[key];
    }
    return *last_;
  }

  std::map<Key, Place> all_;
  Key last_key_;
  Place* last_ = nullptr;  // of last_key_
};

// Calls `take(launch, group)` for each launch of a place: the Group event that follows it, before the next one; null if
// none does.
template <typename Take>
void pair_with_groups(const Place& place, const Take& take) {
  auto group = place.groups.begin();
  for (std::size_t i = 0; i < place.launches.size(); ++i) {
    const PluginEvent& launch = *place.launches[i];
    while (group != place.groups.end() && (*group)->start < launch.start) ++group;
    const bool is_before_next = group != place.groups.end() &&
                                (i + 1 == place.launches.size() || (*group)->start < place.launches[i + 1]->start);
    take(launch, is_before_next ? *group : nullptr);
  }
}

// The group calls of each thread, whatever communicator they began with.
class GroupCalls {
 public:
  explicit GroupCalls(const PluginEvents& plugin) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, EventList> by_place;
    for (const PluginEvent& event : plugin.all()) {
      if (event.type == NcclEvent::kGroupApi) by_place[{event.thread, event.communicator}].push_back(&event);
    }
    std::map<std::uint32_t, EventList> by_thread;
    for (auto& [place, list] : by_place) {
      sort_by_start(&list);
      EventList& all = by_thread[place.first];
      all.insert(all.end(), list.begin(), list.end());
    }
    for (auto& [thread, list] : by_thread) {
      sort_by_start(&list);
      for (const PluginEvent* event : list) {
        by_thread_[thread].add({event->start, event->has_stop ? event->stop : UINT64_MAX, event});
      }
    }
  }

  // The one of the thread that is around the launch; null if none is. Fast for launches by start.
  const PluginEvent* around(const PluginEvent& launch) {
    const auto list = by_thread_.find(launch.thread);
    const GroupCall* found = list == by_thread_.end() ? nullptr : list->second.open_at(launch.start);
    return found == nullptr ? nullptr : found->event;
  }

 private:
  struct GroupCall {
    std::uint64_t start;
    std::uint64_t end;
    const PluginEvent* event;
  };
  std::map<std::uint32_t, Stretches<GroupCall>> by_thread_;
};

KeyedLists<std::size_t> calls_by(const std::vector<NcclCall>& calls, std::uint64_t NcclCall::*handle, bool of_replays) {
  KeyedLists<std::size_t> lists;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool is_wanted = calls[i].*handle != 0 && (of_replays || calls[i].replay == kNoAmount);
    if (is_wanted) lists.add(calls[i].*handle, i);
  }
  lists.settle();
  return lists;
}

}  // namespace

LaunchCalls::LaunchCalls(const NcclCalls& calls, const PluginEvents& plugin)
    : calls_(calls.calls),
      by_enqueued_(calls_by(calls.calls, &NcclCall::enqueued, true)),
      by_plan_(calls_by(calls.calls, &NcclCall::plan, false)),
      place_(plugin) {
  std::optional<GroupCalls> group_calls;
  const Places places(plugin);
  for (const auto& [key, place] : places.all()) {
    pair_with_groups(place, [&](const PluginEvent& launch, const PluginEvent* group) {
      Calls launched = group == nullptr ? Calls() : by_plan_.of(group->handle);
      if (launched.empty()) {
        if (!group_calls) group_calls.emplace(plugin);
        const PluginEvent* around = group_calls->around(launch);
        if (!by_group_call_) by_group_call_ = calls_by(calls_, &NcclCall::group_api, false);
        if (around == nullptr || by_group_call_->of(around->handle).empty()) return;
        launched = choose(launch, *around);
      }
      each_.emplace_back(&launch, launched);
      place_[launch.handle] = static_cast<std::uint32_t>(each_.size());
    });
  }
}

LaunchCalls::Calls LaunchCalls::choose(const PluginEvent& launch, const PluginEvent& group_call) {
  std::vector<std::size_t>& chosen = chosen_.emplace_back();
  for (const std::size_t index : by_group_call_->of(group_call.handle)) {
    const NcclCall& call = calls_[index];
    const bool is_same_stream = call.stream == 0 || launch.stream == 0 || call.stream == launch.stream;
    const bool is_same_comm = call.communicator == 0 || call.communicator == launch.communicator;
    if (call.plan == 0 && is_same_stream && is_same_comm) chosen.push_back(index);
  }
  return chosen;
}

std::span<const std::size_t> LaunchCalls::of(std::uint64_t handle) const {
  const std::uint32_t place = place_.at(handle);
  return place > 0 ? each_[place - 1].second : by_enqueued_.of(handle);
}

std::span<const PluginEvent* const> LaunchCalls::launches_of(std::size_t call) {
  if (!launches_) {
    launches_.emplace();
    for (const auto& [launch, calls] : each_) {
      for (const std::size_t index : calls) launches_->add(static_cast<std::uint32_t>(index), launch);
    }
    launches_->settle();
  }
  return std::as_const(*launches_).of(static_cast<std::uint32_t>(call));
}

}  // namespace jaxprof::match

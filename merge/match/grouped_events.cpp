#include "merge/match/grouped_events.h"

#include <algorithm>
#include <map>
#include <optional>

#include "merge/match/nccl_words.h"

namespace jaxprof::match {
namespace {

// What tells one call of a group from another; the last three may be missing.
struct Traits {
  runfile::Coll coll;
  std::optional<std::uint64_t> comm_hash;
  std::int32_t peer;    // -1: missing, or a collective
  std::uint64_t bytes;  // kNoAmount: missing
  bool operator==(const Traits&) const = default;

  bool may_be(const Traits& other) const {
    const bool is_same_comm = !comm_hash || !other.comm_hash || comm_hash == other.comm_hash;
    const bool is_same_peer = peer < 0 || other.peer < 0 || peer == other.peer;
    const bool is_same_size = bytes == kNoAmount || other.bytes == kNoAmount || bytes == other.bytes;
    return coll == other.coll && is_same_comm && is_same_peer && is_same_size;
  }
};

Traits traits_of(const NcclCall& call) {
  return {call.coll, call.comm_hash, is_point_to_point(call.coll) ? call.peer : -1, call.bytes};
}

Traits traits_of(const rundir::SpoolTrace& trace, const PluginEvent& event) {
  Traits traits{coll_of(event.codes.function), std::nullopt, event.peer, kNoAmount};
  if (const rundir::Communicator* comm = trace.communicator(event.communicator); comm != nullptr) {
    traits.comm_hash = comm->hash;
  }
  const std::uint64_t width = element_bytes(event.codes.type);
  if (width > 0) traits.bytes = event.count * width;
  return traits;
}

struct Group {
  std::vector<std::size_t> calls;          // by start
  std::vector<const PluginEvent*> events;  // by start
};

// Takes the pairs for which `fits`, in order, out of the group.
template <typename Fits>
void take_pairs(const rundir::SpoolTrace& trace, const std::vector<NcclCall>& calls, const Fits& fits, Group* group,
                std::unordered_map<std::uint64_t, std::size_t>* pairs) {
  std::erase_if(group->events, [&](const PluginEvent* event) {
    const Traits wanted = traits_of(trace, *event);
    const auto call = std::find_if(group->calls.begin(), group->calls.end(),
                                   [&](std::size_t index) { return fits(traits_of(calls[index]), wanted); });
    if (call == group->calls.end()) return false;
    pairs->emplace(event->handle, *call);
    group->calls.erase(call);
    return true;
  });
}

}  // namespace

std::unordered_map<std::uint64_t, std::size_t> pair_grouped_events(const rundir::SpoolTrace& trace, RangeCalls* ranges,
                                                                   const std::vector<NcclCall>& calls,
                                                                   std::vector<const PluginEvent*> events) {
  std::unordered_map<std::uint64_t, std::size_t> pairs;
  std::stable_sort(events.begin(), events.end(),
                   [](const PluginEvent* a, const PluginEvent* b) { return a->start < b->start; });
  std::map<std::uint64_t, Group> groups;  // by number
  for (const PluginEvent* event : events) {
    const GroupEnd* end = ranges->group_end_around(event->thread, event->start);
    if (end != nullptr) groups[end->group].events.push_back(event);
  }
  if (groups.empty()) return pairs;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto group = groups.find(calls[i].group);
    if (group != groups.end()) group->second.calls.push_back(i);
  }
  for (auto& [number, group] : groups) {
    take_pairs(
        trace, calls, [](const Traits& a, const Traits& b) { return a == b; }, &group, &pairs);
    take_pairs(
        trace, calls, [](const Traits& a, const Traits& b) { return a.may_be(b); }, &group, &pairs);
  }
  return pairs;
}

}  // namespace jaxprof::match

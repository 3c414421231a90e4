// A value for each handle of NCCL's plugin events, in the order of the events and so without a hash map; handles whose
// event was not recorded have theirs as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "merge/match/plugin_events.h"

namespace jaxprof::match {

template <typename Value>
class ByHandle {
 public:
  // `plugin` is borrowed, and has all of its events. What is not set is `initial`.
  explicit ByHandle(const PluginEvents& plugin, const Value& initial = {})
      : plugin_(plugin), initial_(initial), values_(plugin.all().size(), initial) {}

  Value& operator[](std::uint64_t handle) {
    const std::size_t place = plugin_.place(handle);
    if (place != HandleIndex::kNone) return values_[place];
    return others_.try_emplace(handle, initial_).first->second;
  }
  const Value& at(std::uint64_t handle) const {
    const std::size_t place = plugin_.place(handle);
    if (place != HandleIndex::kNone) return values_[place];
    const auto other = others_.find(handle);
    return other == others_.end() ? initial_ : other->second;
  }

 private:
  const PluginEvents& plugin_;
  const Value initial_;
  std::vector<Value> values_;
  std::unordered_map<std::uint64_t, Value> others_;
};

}  // namespace jaxprof::match

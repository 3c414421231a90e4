// What the NCCL profiler plugin said, as one record an event: start, stop and fields brought together by handle. Stamps
// are in ticks of the process's event clock, and say when NCCL called, not when a GPU did anything.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "agent/spool/event_codec.h"
#include "agent/spool/event_record.h"
#include "merge/match/handle_index.h"

namespace jaxprof::match {

// In an order that leaves no gaps: a process has millions.
struct PluginEvent {
  spool::NcclEvent type = spool::NcclEvent::kGroup;
  std::uint32_t thread = 0;
  std::uint64_t handle = 0;
  std::uint64_t parent = 0;  // handle; 0: none known
  std::uint64_t start = 0;
  std::uint64_t stop = 0;
  std::uint32_t communicator = 0;  // number in the spool; 0: unknown
  bool has_stop = false;
  // by type; missing ones are 0
  bool is_captured = false;
  spool::NcclCodes codes;
  std::int32_t depth = 0;
  std::uint64_t sequence = 0;
  std::uint64_t count = 0;
  std::uint64_t plan = 0;  // handle of the Group: the kernel plan that holds the call
  std::uint64_t stream = 0;
  std::int32_t root = -1;
  std::int32_t peer = -1;
};
static_assert(sizeof(PluginEvent) <= 96);

class PluginEvents {
 public:
  // Takes events of any kind in the order of the file; keeps those of the plugin.
  void add(std::uint32_t thread, const spool::Event& event);

  const std::vector<PluginEvent>& all() const { return events_; }
  // Null for 0 and for a handle whose start was not recorded.
  const PluginEvent* find(std::uint64_t handle) const;
  // The place in all() of what find() finds; HandleIndex::kNone: nothing.
  std::size_t place(std::uint64_t handle) const { return by_handle_.find(handle); }

 private:
  std::vector<PluginEvent> events_;
  HandleIndex by_handle_;
  std::unordered_map<std::uint64_t, std::uint64_t> early_stops_;  // by handle: the proxy thread's block came first
};

}  // namespace jaxprof::match

// Which calls a kernel launch of NCCL was for. NCCL brackets the launch of a kernel with a KernelLaunch event, which
// names its communicator and stream but not the calls; right after it, on the same thread, comes the Group event of the
// kernel plan, which its Coll and P2p events name. While a CUDA graph is captured there may be no Group event: then the
// launch is for the calls of the group call (GroupApi) in which it lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "merge/match/by_handle.h"
#include "merge/match/keyed_lists.h"
#include "merge/match/nccl_calls.h"
#include "merge/match/plugin_events.h"

namespace jaxprof::match {

class LaunchCalls {
 public:
  // Both are borrowed.
  LaunchCalls(const NcclCalls& calls, const PluginEvents& plugin);

  // Positions in NcclCalls::calls. `handle` is a KernelLaunch's, or that of a Coll, P2p or CeColl itself.
  std::span<const std::size_t> of(std::uint64_t handle) const;
  // The KernelLaunch events that were for the call. Sorts them by call when it is asked for the first time.
  std::span<const PluginEvent* const> launches_of(std::size_t call);

 private:
  using Calls = std::span<const std::size_t>;

  // The calls of a group call that were launched with it and not by a plan.
  Calls choose(const PluginEvent& launch, const PluginEvent& group_call);

  const std::vector<NcclCall>& calls_;
  KeyedLists<std::size_t> by_enqueued_;                        // by handle of the Coll, P2p or CeColl
  KeyedLists<std::size_t> by_plan_;                            // by handle of the Group
  std::optional<KeyedLists<std::size_t>> by_group_call_;       // by handle of the GroupApi, once it is needed
  std::deque<std::vector<std::size_t>> chosen_;                // what choose() answered
  std::vector<std::pair<const PluginEvent*, Calls>> each_;     // KernelLaunch events and the calls that they were for
  ByHandle<std::uint32_t> place_;                              // of a KernelLaunch behind itself in each_; 0: not there
  std::optional<NumberedLists<const PluginEvent*>> launches_;  // by call
};

}  // namespace jaxprof::match

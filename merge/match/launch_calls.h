// Which calls a kernel launch of NCCL was for. NCCL brackets the launch of a kernel with a KernelLaunch event, which
// names its communicator and stream but not the calls; right after it, on the same thread, comes the Group event of the
// kernel plan, which its Coll and P2p events name. While a CUDA graph is captured there may be no Group event: then the
// launch is for the calls of the group call (GroupApi) in which it lies.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "merge/match/nccl_calls.h"
#include "merge/match/plugin_events.h"

namespace jaxprof::match {

class LaunchCalls {
 public:
  LaunchCalls(const NcclCalls& calls, const PluginEvents& plugin);

  // Positions in NcclCalls::calls. `handle` is a KernelLaunch's, or that of a Coll, P2p or CeColl itself.
  const std::vector<std::size_t>& of(std::uint64_t handle) const;
  // The KernelLaunch events that were for the call.
  const std::vector<const PluginEvent*>& launches_of(std::size_t call) const;

 private:
  void add(const PluginEvent& launch, const std::vector<std::size_t>& calls);

  std::unordered_map<std::uint64_t, std::vector<std::size_t>> calls_;          // by handle
  std::unordered_map<std::size_t, std::vector<const PluginEvent*>> launches_;  // by call
};

}  // namespace jaxprof::match

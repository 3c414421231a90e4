// How NCCL finds, loads, counts and unloads a profiler plugin, and the one process-wide event mask that the plugin, and
// from 2.31 on its operator, may write to at any time. Loading happens with the first communicator, unloading with the
// last; a load that failed is not tried again. Of the plugin's interfaces the newest is taken that this NCCL knows.
// Emitting events is profiler_events.h.
#pragma once

#include <mutex>
#include <string>

#include "tests/puppets/communicator.h"
#include "tests/puppets/profiler_calls.h"

namespace jaxprof::puppets {

class ProfilerPlugin {
 public:
  // `is_enabled` false: no plugin is ever looked for. `newest_version`: of the interface that this NCCL knows.
  ProfilerPlugin(bool is_enabled, int newest_version) : is_enabled_(is_enabled), newest_version_(newest_version) {}

  // NCCL's ncclProfilerPluginInit, on the thread that initialises `comm`: loads if needed, then calls init.
  void init(Communicator& comm);
  // NCCL's ncclProfilerPluginFinalize: finalize if there is a context, then drops the reference; the last closes.
  void finalize(Communicator& comm);

  // The loaded plugin. Stable between the first init and the last finalize.
  const ProfilerCalls& calls() const { return calls_; }
  // The mask as it is at this instant; read anew for every API call. Events that this NCCL does not have are not in it.
  std::uint64_t mask() const {
    const auto mask = static_cast<std::uint64_t>(__atomic_load_n(&mask_, __ATOMIC_RELAXED));
    return mask & profiler_abi::events_of_version(calls_.version());
  }
  // Another than the plugin sets it.
  void rewrite_mask(int mask) { __atomic_store_n(&mask_, mask, __ATOMIC_RELAXED); }
  // "loaded NAME from PATH", or why nothing is loaded; for the log.
  std::string status() const;

 private:
  enum class State { kReady, kLoaded, kFailed };
  void load();
  void unload();

  const bool is_enabled_;
  const int newest_version_;
  mutable std::mutex mutex_;
  State state_ = State::kReady;
  std::string status_ = "not looked for";
  void* library_ = nullptr;
  ProfilerCalls calls_;
  int n_references_ = 0;
  int mask_ = 0;  // its address is given to the plugin
};

}  // namespace jaxprof::puppets

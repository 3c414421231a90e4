// How NCCL 2.28 finds, loads, counts and unloads a profiler plugin, and the one process-wide event mask the plugin
// may write to at any time. Loading happens with the first communicator, unloading with the last; a load that failed
// is not tried again. Emitting events is profiler_events.h.
#pragma once

#include <mutex>
#include <string>

#include "tests/puppets/communicator.h"
#include "tests/puppets/profiler_abi.h"

namespace jaxprof::puppets {

class ProfilerPlugin {
 public:
  // `is_enabled` false: no plugin is ever looked for.
  explicit ProfilerPlugin(bool is_enabled) : is_enabled_(is_enabled) {}

  // NCCL's ncclProfilerPluginInit, on the thread that initialises `comm`: loads if needed, then calls init.
  void init(Communicator& comm);
  // NCCL's ncclProfilerPluginFinalize: finalize if there is a context, then drops the reference; the last closes.
  void finalize(Communicator& comm);

  // The loaded plugin's table or nullptr. Stable between the first init and the last finalize.
  const profiler_abi::PluginV5* table() const { return table_; }
  // The mask as it is at this instant; read anew for every API call.
  int mask() const { return __atomic_load_n(&mask_, __ATOMIC_RELAXED); }
  // "loaded NAME from PATH", or why nothing is loaded; for the log.
  std::string status() const;

 private:
  enum class State { kReady, kLoaded, kFailed };
  void load();
  void unload();

  const bool is_enabled_;
  mutable std::mutex mutex_;
  State state_ = State::kReady;
  std::string status_ = "not looked for";
  void* library_ = nullptr;
  const profiler_abi::PluginV5* table_ = nullptr;
  int n_references_ = 0;
  int mask_ = 0;  // its address is given to the plugin
};

}  // namespace jaxprof::puppets

// One way to call a profiler plugin for all versions of its interface: an event with all that any version tells of it
// goes in, and the layout that the plugin's version wants comes out, with the padding and the rest of the union as
// NCCL's stack leaves them: garbage. When NCCL calls is profiler_events.h.
#pragma once

#include "tests/puppets/communicator.h"
#include "tests/puppets/profiler_abi.h"

namespace jaxprof::puppets {

// The newest version's descriptor, and what older ones had besides.
struct Event : profiler_abi::DescriptorV7 {
  const Communicator* comm = nullptr;  // versions 1 to 3 name it in each call
  std::size_t traffic_bytes = 0;       // 1, 2
  int reduction = 0;                   // 1
};
Event event_of(profiler_abi::EventType type, void* parent);

class ProfilerCalls {
 public:
  ProfilerCalls() = default;
  // `table`: the plugin's ncclProfiler_v<version>.
  ProfilerCalls(int version, const void* table) : version_(version), table_(table) {}

  // 0: there is no plugin, and nothing may be called.
  int version() const { return version_; }
  bool is_loaded() const { return version_ != 0; }
  const char* name() const { return table<profiler_abi::InitV1>().name; }

  int init(Communicator& comm, int* mask, profiler_abi::Logger logger) const;
  // `*handle` is given to the plugin as it is.
  void start(void* context, void** handle, const Event& event) const;
  void stop(void* handle) const { table<profiler_abi::InitV1>().stop_event(handle); }
  void state(void* handle, int state, profiler_abi::StateArguments* arguments = nullptr) const {
    table<profiler_abi::InitV1>().record_event_state(handle, state, arguments);
  }
  void finalize(void* context) const { table<profiler_abi::InitV1>().finalize(context); }

 private:
  // But for init, tables of all versions are alike.
  template <typename Init>
  const profiler_abi::Plugin<Init>& table() const {
    return *static_cast<const profiler_abi::Plugin<Init>*>(table_);
  }

  int version_ = 0;
  const void* table_ = nullptr;
};

}  // namespace jaxprof::puppets

#include "tests/puppets/profiler_events.h"

namespace jaxprof::puppets {
namespace {

using namespace profiler_abi;

constexpr std::uint64_t kBelowTask = kProxyOp | kProxyStep | kKernelChannel | kNetPlugin;
constexpr std::uint64_t kCollBits = kColl | kBelowTask;
constexpr std::uint64_t kP2pBits = kP2p | kBelowTask;
constexpr std::uint64_t kGroupBits = kGroup | kColl | kP2p | kBelowTask;
constexpr std::uint64_t kCollApiBits = kCollApi | kCollBits;
constexpr std::uint64_t kP2pApiBits = kP2pApi | kP2pBits;
constexpr std::uint64_t kGroupApiBits = kGroupApi | kCollApi | kP2pApi | kKernelLaunch | kGroupBits;

bool wants(int mask, std::uint64_t bits) {
  return (static_cast<std::uint64_t>(mask) & bits) != 0;
}

// What NCCL keeps in thread-local storage between the calls of one group, and beyond where it forgets to clear.
struct ApiState {
  enum class Group { kReset, kEntered };
  int depth = 0;  // levels of the reported group; 0 while none is reported
  int mask = 0;
  Group group = Group::kReset;
  void* group_api = nullptr;
  void* p2p_api = nullptr;
  void* coll_api = nullptr;
};
thread_local ApiState api;

EventDescriptor describe(EventType type, void* parent) {
  EventDescriptor descriptor{};
  descriptor.type = type;
  descriptor.parent = parent;
  return descriptor;
}

}  // namespace

void ProfilerEvents::enter_group() const {
  if (api.depth > 0) {
    ++api.depth;
  }
}

void ProfilerEvents::leave_group() const {
  if (api.depth > 0) {
    --api.depth;
  }
  if (api.depth == 0 && api.group == ApiState::Group::kEntered) {
    api.group = ApiState::Group::kReset;
    if (plugin_.table() != nullptr && api.group_api != nullptr) {
      plugin_.table()->record_event_state(api.group_api, kGroupEndApiStart, nullptr);
    }
  }
}

void ProfilerEvents::start_group_api(const Communicator& comm, int depth) const {
  api.mask = plugin_.mask();
  const PluginV5* const table = plugin_.table();
  if (table == nullptr || !wants(api.mask, kGroupApiBits) || api.depth != 0) {
    return;
  }
  EventDescriptor descriptor = describe(kGroupApi, nullptr);
  descriptor.group_api = {.graph_captured = false, .group_depth = depth};
  table->start_event(comm.profiler_context, &api.group_api, &descriptor);
  api.depth = depth;
  api.group = ApiState::Group::kEntered;
  if (api.group_api != nullptr) {
    table->record_event_state(api.group_api, kGroupStartApiStop, nullptr);
  }
}

void ProfilerEvents::stop_group_api() const {
  if (plugin_.table() != nullptr && api.group_api != nullptr && api.depth == 0) {
    plugin_.table()->stop_event(api.group_api);
    api.group_api = nullptr;
  }
}

void ProfilerEvents::start_api(const Call& call, Task& task) const {
  const bool is_send_or_receive = is_p2p(task.function);
  void*& handle = is_send_or_receive ? api.p2p_api : api.coll_api;
  if (plugin_.table() != nullptr && wants(api.mask, is_send_or_receive ? kP2pApiBits : kCollApiBits)) {
    EventDescriptor descriptor = describe(is_send_or_receive ? kP2pApi : kCollApi, api.group_api);
    if (is_send_or_receive) {
      descriptor.p2p_api = {.function = event_name(task.function),
                            .count = call.count,
                            .datatype = call.type->event,
                            .stream = call.stream,
                            .graph_captured = false};
    } else {
      descriptor.coll_api = {.function = event_name(task.function),
                             .count = call.count,
                             .datatype = call.type->event,
                             .root = call.root,
                             .stream = call.stream,
                             .graph_captured = false};
    }
    plugin_.table()->start_event(call.comm->profiler_context, &handle, &descriptor);
  }
  task.mask = api.mask;
  task.group_api = api.group_api;
  task.api = handle;
}

void ProfilerEvents::stop_api(const Task& task) const {
  if (plugin_.table() == nullptr) {
    return;
  }
  if (is_p2p(task.function)) {
    if (api.p2p_api != nullptr) {
      plugin_.table()->stop_event(api.p2p_api);
      api.p2p_api = nullptr;
    }
  } else if (api.coll_api != nullptr) {
    plugin_.table()->stop_event(api.coll_api);  // NCCL leaves the handle in place
  }
}

void ProfilerEvents::start_kernel_launch(Plan& plan) const {
  const Task* const task = plan.first_watched_task();
  if (plugin_.table() == nullptr || task == nullptr || !wants(task->mask, kKernelLaunch)) {
    return;
  }
  EventDescriptor descriptor = describe(kKernelLaunch, task->group_api);
  descriptor.kernel_launch = {.stream = plan.stream};
  plugin_.table()->start_event(plan.comm->profiler_context, &plan.kernel_launch, &descriptor);
}

void ProfilerEvents::stop_kernel_launch(const Plan& plan) const {
  if (plugin_.table() != nullptr && plan.kernel_launch != nullptr) {
    plugin_.table()->stop_event(plan.kernel_launch);
  }
}

void ProfilerEvents::start_group(Plan& plan) const {
  const Task* const task = plan.first_watched_task();
  if (plugin_.table() == nullptr || task == nullptr || !wants(task->mask, kGroupBits)) {
    return;
  }
  EventDescriptor descriptor = describe(kGroup, nullptr);
  plugin_.table()->start_event(plan.comm->profiler_context, &plan.group, &descriptor);
}

void ProfilerEvents::stop_group(const Plan& plan) const {
  if (plugin_.table() != nullptr && plan.group != nullptr) {
    plugin_.table()->stop_event(plan.group);
  }
}

void ProfilerEvents::start_task(const Plan& plan, Task& task) const {
  const bool is_send_or_receive = is_p2p(task.function);
  if (plugin_.table() == nullptr || !wants(task.mask, is_send_or_receive ? kP2pBits : kCollBits)) {
    return;
  }
  EventDescriptor descriptor = describe(is_send_or_receive ? kP2p : kColl, task.api);
  descriptor.rank = plan.comm->rank;
  if (is_send_or_receive) {
    descriptor.p2p = {.function = event_name(task.function),
                      .buffer = const_cast<void*>(task.send_buffer),
                      .datatype = task.datatype,
                      .count = task.count,
                      .peer = task.root,
                      .n_channels = task.tuning.n_channels,
                      .parent_group = plan.group};
  } else {
    constexpr std::uint8_t kWarps = 16;
    descriptor.coll = {.sequence = plan.comm->sequence[index_of(task.function)],
                       .function = event_name(task.function),
                       .send_buffer = task.send_buffer,
                       .receive_buffer = task.receive_buffer,
                       .count = task.count,
                       .root = task.root,
                       .datatype = task.datatype,
                       .n_channels = task.tuning.n_channels,
                       .n_warps = kWarps,
                       .algorithm = task.tuning.algorithm,
                       .protocol = task.tuning.protocol,
                       .parent_group = plan.group};
  }
  plugin_.table()->start_event(plan.comm->profiler_context, &task.event, &descriptor);
}

void ProfilerEvents::stop_task(const Task& task) const {
  if (plugin_.table() != nullptr && task.event != nullptr) {
    plugin_.table()->stop_event(task.event);
  }
}

}  // namespace jaxprof::puppets

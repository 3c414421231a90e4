#include "tests/puppets/profiler_events.h"

#include "tests/puppets/stream.h"

namespace jaxprof::puppets {
namespace {

using namespace profiler_abi;

constexpr int kFirstWithApiEvents = 5;
constexpr int kFirstWithSymmetricKernels = 7;

constexpr std::uint64_t kBelowTask = kProxyOp | kProxyStep | kKernelChannel | kNetPlugin | kKernelPhase;
constexpr std::uint64_t kCollBits = kColl | kBelowTask;
constexpr std::uint64_t kP2pBits = kP2p | kBelowTask;
constexpr std::uint64_t kGroupBits = kGroup | kColl | kP2p | kBelowTask;
constexpr std::uint64_t kCopyBits = kCeColl | kCeSync | kCeBatch;
constexpr std::uint64_t kCollApiBits = kCollApi | kCollBits | kCopyBits;
constexpr std::uint64_t kP2pApiBits = kP2pApi | kP2pBits;
constexpr std::uint64_t kGroupApiBits = kGroupApi | kCollApi | kP2pApi | kKernelLaunch | kGroupBits | kCopyBits;

bool wants(std::uint64_t mask, std::uint64_t bits) {
  return (mask & bits) != 0;
}

// What NCCL keeps in thread-local storage between the calls of one group, and beyond where it forgets to clear.
struct ApiState {
  enum class Group { kReset, kEntered };
  int depth = 0;  // levels of the reported group; 0 while none is reported
  std::uint64_t mask = 0;
  Group group = Group::kReset;
  void* group_api = nullptr;
  void* p2p_api = nullptr;
  void* coll_api = nullptr;
};
thread_local ApiState api;

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
    if (calls().is_loaded() && api.group_api != nullptr) {
      calls().state(api.group_api, kGroupEndApiStart);
    }
  }
}

void ProfilerEvents::start_group_api(const Communicator& comm, int depth, bool is_captured) const {
  api.mask = calls().is_loaded() ? plugin_.mask() : 0;
  if (calls().version() < kFirstWithApiEvents || !wants(api.mask, kGroupApiBits) || api.depth != 0) {
    return;
  }
  Event event = event_of(kGroupApi, nullptr);
  event.group_api = {.graph_captured = is_captured, .group_depth = depth};
  calls().start(comm.profiler_context, &api.group_api, event);
  api.depth = depth;
  api.group = ApiState::Group::kEntered;
  if (api.group_api != nullptr) {
    calls().state(api.group_api, kGroupStartApiStop);
  }
}

void ProfilerEvents::stop_group_api() const {
  if (calls().is_loaded() && api.group_api != nullptr && api.depth == 0) {
    calls().stop(api.group_api);
    api.group_api = nullptr;
  }
}

void ProfilerEvents::start_api(const Call& call, Task& task, bool is_captured) const {
  const bool is_send_or_receive = is_p2p(task.function);
  void*& handle = is_send_or_receive ? api.p2p_api : api.coll_api;
  const bool has_event = calls().version() >= kFirstWithApiEvents;
  if (has_event && wants(api.mask, is_send_or_receive ? kP2pApiBits : kCollApiBits)) {
    Event event = event_of(is_send_or_receive ? kP2pApi : kCollApi, api.group_api);
    if (is_send_or_receive) {
      event.p2p_api = {.function = event_name(task.function),
                       .count = call.count,
                       .datatype = call.type->event,
                       .stream = const_cast<void*>(call.stream->handle()),
                       .graph_captured = is_captured,
                       .user_tag = user_tag_};
    } else {
      event.coll_api = {.function = event_name(task.function),
                        .count = call.count,
                        .datatype = call.type->event,
                        .root = call.root,
                        .stream = const_cast<void*>(call.stream->handle()),
                        .graph_captured = is_captured,
                        .user_tag = user_tag_};
    }
    calls().start(call.comm->profiler_context, &handle, event);
  }
  task.mask = api.mask;
  task.group_api = api.group_api;
  task.api = handle;
}

void ProfilerEvents::stop_api(const Task& task) const {
  if (calls().version() < kFirstWithApiEvents) {
    return;
  }
  if (is_p2p(task.function)) {
    if (api.p2p_api != nullptr) {
      calls().stop(api.p2p_api);
      api.p2p_api = nullptr;
    }
  } else if (api.coll_api != nullptr) {
    calls().stop(api.coll_api);  // NCCL leaves the handle in place
  }
}

void ProfilerEvents::start_kernel_launch(Plan& plan) const {
  const Task* const task = plan.first_watched_task();
  if (calls().version() < kFirstWithApiEvents || task == nullptr || !wants(task->mask, kKernelLaunch)) {
    return;
  }
  if (plan.carrier == Carrier::kSymmetricKernel && calls().version() < kFirstWithSymmetricKernels) {
    return;
  }
  Event event = event_of(kKernelLaunch, task->group_api);
  event.kernel_launch = {.stream = const_cast<void*>(plan.stream->handle())};
  calls().start(plan.comm->profiler_context, &plan.kernel_launch, event);
}

void ProfilerEvents::stop_kernel_launch(const Plan& plan) const {
  if (calls().is_loaded() && plan.kernel_launch != nullptr) {
    calls().stop(plan.kernel_launch);
  }
}

void ProfilerEvents::start_plan(Plan& plan) const {
  const Task* const task = plan.first_watched_task();
  if (!calls().is_loaded() || task == nullptr || !wants(task->mask, kGroupBits)) {
    return;
  }
  if (plan.carrier == Carrier::kSymmetricKernel && calls().version() < kFirstWithSymmetricKernels) {
    return;
  }
  plan.group = nullptr;  // also where a graph is replayed
  calls().start(plan.comm->profiler_context, &plan.group, event_of(kGroup, nullptr));
  if (calls().version() < kFirstWithApiEvents && plan.group == nullptr) {
    return;
  }
  for (auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (Task& started : *tasks) {
      start_task(plan, started);
    }
  }
}

void ProfilerEvents::stop_plan(const Plan& plan) const {
  if (!calls().is_loaded()) {
    return;
  }
  for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (const Task& task : *tasks) {
      stop_task(task);
    }
  }
  if (plan.group != nullptr) {
    calls().stop(plan.group);
  }
}

void ProfilerEvents::start_task(const Plan& plan, Task& task) const {
  const bool is_send_or_receive = is_p2p(task.function);
  if (!wants(task.mask, is_send_or_receive ? kP2pBits : kCollBits)) {
    return;
  }
  const bool has_api_events = calls().version() >= kFirstWithApiEvents;
  Event event = event_of(is_send_or_receive ? kP2p : kColl, has_api_events ? task.api : plan.group);
  event.rank = plan.comm->rank;
  event.comm = plan.comm;
  if (is_send_or_receive) {
    event.p2p = {.function = event_name(task.function),
                 .buffer = const_cast<void*>(task.send_buffer),
                 .datatype = task.datatype,
                 .count = task.count,
                 .peer = task.root,
                 .n_channels = task.tuning.n_channels,
                 .parent_group = plan.group,
                 .user_tag = user_tag_};
  } else {
    constexpr std::uint8_t kWarps = 16;
    const bool is_symmetric = task.carrier == Carrier::kSymmetricKernel;
    event.coll = {.sequence = task.sequence,
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
                  .parent_group = plan.group,
                  .kernel_variant = is_symmetric ? "RSxLD_AGxST" : nullptr,
                  .is_symmetric = is_symmetric,
                  .user_tag = user_tag_};
    event.traffic_bytes = task.bytes;
    event.reduction = task.reduction->value;
  }
  calls().start(plan.comm->profiler_context, &task.event, event);
}

void ProfilerEvents::stop_task(const Task& task) const {
  if (task.event != nullptr) {
    calls().stop(task.event);
  }
}

void ProfilerEvents::report_copies(Plan& plan) const {
  for (Task& task : plan.collectives) {
    const std::uint32_t number = plan.comm->n_copies++;
    if (!calls().is_loaded() || !wants(task.mask, kCopyBits)) {
      continue;
    }
    Event event = event_of(kCeColl, task.api);
    event.rank = plan.comm->rank;
    event.ce_coll = {.sequence = task.sequence,
                     .function = event_name(task.function),
                     .send_buffer = task.send_buffer,
                     .receive_buffer = task.receive_buffer,
                     .count = task.count,
                     .root = task.root,
                     .datatype = task.datatype,
                     .sync_strategy = "UC",
                     .intra_batch_sync = false,
                     .batch_size = 1,
                     .n_batches = 1,
                     .ce_sequence = number,
                     .stream = const_cast<void*>(plan.stream->handle()),
                     .user_tag = user_tag_};
    calls().start(plan.comm->profiler_context, &task.event, event);
    stop_task(task);
  }
}

}  // namespace jaxprof::puppets

#include "tests/puppets/proxy_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "tests/puppets/clock.h"

namespace jaxprof::puppets {

using namespace profiler_abi;

namespace {
constexpr std::size_t kChunkBytes = 512U << 10U;

bool wants(std::uint64_t mask, std::uint64_t bits) {
  return (mask & bits) != 0;
}

// What the GPU's global timer would show: nanoseconds since 1970, roughly.
std::uint64_t device_timer(std::int64_t stamp_raw_ns) {
  return static_cast<std::uint64_t>(stamp_raw_ns + realtime_ns() - raw_ns());
}
}  // namespace

ProxyThread::ProxyThread(const ProfilerPlugin& plugin, const NvtxRanges& ranges, const Communicator& comm)
    : plugin_(plugin), ranges_(ranges), comm_(comm), thread_([this] { run(); }) {}

ProxyThread::~ProxyThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProxyThread::post(const Task& task) {
  const auto is_remote = [this](int rank) {
    return comm_.node_of_rank[static_cast<std::size_t>(rank)] !=
           comm_.node_of_rank[static_cast<std::size_t>(comm_.rank)];
  };
  const auto add = [&](int peer, bool is_send) {
    if (is_remote(peer)) {
      queue_.push_back({task.event, task.mask, peer, is_send, task.bytes});
    }
  };
  {
    const std::lock_guard lock(mutex_);
    if (is_p2p(task.function)) {
      add(task.root, task.function == Function::kSend);
    } else {  // a ring: data goes to the next rank and comes from the one before
      add((comm_.rank + 1) % comm_.n_ranks, true);
      add((comm_.rank + comm_.n_ranks - 1) % comm_.n_ranks, false);
    }
  }
  changed_.notify_one();
}

void ProxyThread::run() {
  char name[32];  // 15 characters, the limit of a thread name
  std::snprintf(name, sizeof name, "NCCL Progress%2d", comm_.device % 100);
  pthread_setname_np(pthread_self(), name);
  ranges_.name_thread(name);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    const Operation operation = queue_.front();
    queue_.pop_front();
    lock.unlock();
    report(operation);
    lock.lock();
  }
}

void ProxyThread::post_kernel(const Task& task, std::int64_t begin_raw_ns, std::int64_t end_raw_ns) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back({task.event, task.mask, 0, false, task.bytes, task.tuning.n_channels, begin_raw_ns, end_raw_ns});
  }
  changed_.notify_one();
}

void ProxyThread::report_kernel(const Operation& operation) const {
  if (!wants(operation.mask, kKernelChannel) || operation.task_event == nullptr) {
    return;
  }
  for (int channel = 0; channel < operation.n_channels; ++channel) {
    Event event = event_of(kKernelChannel, operation.task_event);
    event.kernel_channel = {.channel = static_cast<std::uint8_t>(channel),
                            .device_timer = device_timer(operation.begin_raw_ns)};
    void* handle = nullptr;
    plugin_.calls().start(comm_.profiler_context, &handle, event);
    if (handle == nullptr) {
      continue;
    }
    StateArguments arguments{};
    arguments.device_timer = device_timer(operation.end_raw_ns);
    plugin_.calls().state(handle, kKernelChannelStop, &arguments);
    plugin_.calls().stop(handle);
  }
}

void ProxyThread::report(const Operation& operation) const {
  if (!plugin_.calls().is_loaded()) {
    return;
  }
  if (operation.n_channels > 0) {
    return report_kernel(operation);
  }
  if (!wants(operation.mask, kProxyOp | kProxyStep | kNetPlugin)) {
    return;
  }
  const int n_steps = std::max(1, static_cast<int>((operation.bytes + kChunkBytes - 1) / kChunkBytes));
  Event event = event_of(kProxyOp, operation.task_event);
  event.rank = comm_.rank;
  event.proxy_op = {.pid = getpid(),
                    .channel = 0,
                    .peer = operation.peer,
                    .n_steps = n_steps,
                    .chunk_size = static_cast<int>(kChunkBytes),
                    .is_send = operation.is_send ? 1 : 0};
  void* op_event = nullptr;
  plugin_.calls().start(comm_.profiler_context, &op_event, event);
  if (op_event == nullptr) {
    return;
  }
  const bool has_states_of_ops = plugin_.calls().version() <= 3;
  if (has_states_of_ops) {
    StateArguments arguments{};
    arguments.proxy_op = {operation.bytes, n_steps};
    const int first = operation.is_send ? kOpSendPosted : kOpReceivePosted;
    const int last = operation.is_send ? kOpSendDone : kOpReceiveDone;
    for (int state = first; state <= last; ++state) {
      plugin_.calls().state(op_event, state, &arguments);
    }
  } else {
    plugin_.calls().state(op_event, kProxyOpInProgress);
  }
  if (wants(operation.mask, kProxyStep | kNetPlugin)) {
    for (int step = 0; step < n_steps; ++step) {
      report_step(op_event, operation, step);
    }
  }
  plugin_.calls().stop(op_event);
}

void ProxyThread::report_step(void* op_event, const Operation& operation, int step) const {
  Event event = event_of(kProxyStep, op_event);
  event.rank = comm_.rank;
  event.proxy_step = {.step = step};
  void* step_event = nullptr;
  plugin_.calls().start(comm_.profiler_context, &step_event, event);
  if (step_event == nullptr) {
    return;
  }
  StateArguments arguments{};
  arguments.transferred_bytes = std::min(kChunkBytes, operation.bytes - static_cast<std::size_t>(step) * kChunkBytes);
  static constexpr std::array kSendStates{kSendGpuWait, kSendPeerWait, kSendWait};
  static constexpr std::array kReceiveStates{kRecvWait, kRecvFlushWait, kRecvGpuWait};
  const bool has_peer_wait = plugin_.calls().version() >= 4;
  for (const EventState state : operation.is_send ? kSendStates : kReceiveStates) {
    if (state != kSendPeerWait || has_peer_wait) {
      plugin_.calls().state(step_event, state, &arguments);
    }
  }
  plugin_.calls().stop(step_event);
}

}  // namespace jaxprof::puppets

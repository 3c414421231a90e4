#include "tests/puppets/proxy_thread.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace jaxprof::puppets {

using namespace profiler_abi;

namespace {
constexpr std::size_t kChunkBytes = 512U << 10U;

bool wants(int mask, std::uint64_t bits) {
  return (static_cast<std::uint64_t>(mask) & bits) != 0;
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

void ProxyThread::report(const Operation& operation) const {
  if (plugin_.table() == nullptr || !wants(operation.mask, kProxyOp | kProxyStep | kNetPlugin)) {
    return;
  }
  const int n_steps = std::max(1, static_cast<int>((operation.bytes + kChunkBytes - 1) / kChunkBytes));
  EventDescriptor descriptor{};
  descriptor.type = kProxyOp;
  descriptor.parent = operation.task_event;
  descriptor.rank = comm_.rank;
  descriptor.proxy_op = {.pid = getpid(),
                         .channel = 0,
                         .peer = operation.peer,
                         .n_steps = n_steps,
                         .chunk_size = static_cast<int>(kChunkBytes),
                         .is_send = operation.is_send ? 1 : 0};
  void* op_event = nullptr;
  plugin_.table()->start_event(comm_.profiler_context, &op_event, &descriptor);
  if (op_event == nullptr) {
    return;
  }
  plugin_.table()->record_event_state(op_event, kProxyOpInProgress, nullptr);
  if (wants(operation.mask, kProxyStep | kNetPlugin)) {
    for (int step = 0; step < n_steps; ++step) {
      report_step(op_event, operation, step);
    }
  }
  plugin_.table()->stop_event(op_event);
}

void ProxyThread::report_step(void* op_event, const Operation& operation, int step) const {
  EventDescriptor descriptor{};
  descriptor.type = kProxyStep;
  descriptor.parent = op_event;
  descriptor.rank = comm_.rank;
  descriptor.proxy_step = {.step = step};
  void* step_event = nullptr;
  plugin_.table()->start_event(comm_.profiler_context, &step_event, &descriptor);
  if (step_event == nullptr) {
    return;
  }
  StateArguments arguments{};
  arguments.transferred_bytes = std::min(kChunkBytes, operation.bytes - static_cast<std::size_t>(step) * kChunkBytes);
  static constexpr std::array kSendStates{kSendGpuWait, kSendPeerWait, kSendWait};
  static constexpr std::array kReceiveStates{kRecvWait, kRecvFlushWait, kRecvGpuWait};
  for (const EventState state : operation.is_send ? kSendStates : kReceiveStates) {
    plugin_.table()->record_event_state(step_event, state, &arguments);
  }
  plugin_.table()->stop_event(step_event);
}

}  // namespace jaxprof::puppets

#include "tests/puppets/hazards.h"

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/puppets/options.h"

namespace jaxprof::puppets {
namespace {

using namespace profiler_abi;

// Addresses of another process.
void* const kForeignContext = reinterpret_cast<void*>(std::uintptr_t{0x7f00'dead'0000});
void* const kForeignParent = reinterpret_cast<void*>(std::uintptr_t{0x7f00'beef'0010});

Event collective(const Communicator& comm, std::uint64_t sequence) {
  Event event = event_of(kColl, nullptr);
  event.rank = comm.rank;
  event.comm = &comm;
  event.coll = {.sequence = sequence,
                .function = "AllReduce",
                .send_buffer = nullptr,
                .receive_buffer = nullptr,
                .count = 1,
                .root = 0,
                .datatype = "ncclFloat32",
                .n_channels = 1,
                .n_warps = 16,
                .algorithm = "RING",
                .protocol = "LL",
                .parent_group = nullptr,
                .kernel_variant = nullptr,
                .is_symmetric = false,
                .user_tag = 0};
  return event;
}

// Starts and stops one; the handle lies behind what NCCL had there before.
void* call(const ProfilerCalls& calls, void* context, const Event& event) {
  void* handle = kForeignParent;
  calls.start(context, &handle, event);
  if (handle != nullptr) {
    calls.stop(handle);
  }
  return handle;
}

}  // namespace

void Hazards::before_iteration(int iteration) {
  if (!wants(kMask) || !plugin_.calls().is_loaded()) {
    return;
  }
  if (iteration == 0) {
    own_mask_ = static_cast<int>(plugin_.mask());
  }
  const int masks[] = {own_mask_, 0, -1};
  plugin_.rewrite_mask(masks[iteration % 3]);
}

void Hazards::after_work(const Communicator& comm) {
  if (!plugin_.calls().is_loaded()) {
    return;
  }
  if (wants(kMask)) {
    plugin_.rewrite_mask(own_mask_);
  }
  if (wants(kForeign)) foreign(comm);
  if (wants(kNullContext)) null_context(comm);
  if (wants(kStrays)) strays(comm);
  if (wants(kFork)) fork_child(comm);
  if (wants(kFlood)) flood(comm);
}

void Hazards::foreign(const Communicator& comm) const {
  Event event = event_of(kProxyOp, kForeignParent);
  event.rank = comm.rank;
  event.proxy_op = {.pid = getpid() + 1, .channel = 0, .peer = 0, .n_steps = 1, .chunk_size = 1, .is_send = 1};
  void* handle = nullptr;
  plugin_.calls().start(kForeignContext, &handle, event);
  std::uint64_t n_events = 1;
  if (handle != nullptr) {
    plugin_.calls().state(handle, plugin_.calls().version() <= 3 ? kOpSendPosted : kProxyOpInProgress);
    Event step = event_of(kProxyStep, handle);
    call(plugin_.calls(), kForeignContext, step);
    plugin_.calls().stop(handle);
    ++n_events;
  }
  log_.hazard("foreign", n_events);
}

void Hazards::null_context(const Communicator& comm) const {
  call(plugin_.calls(), nullptr, collective(comm, 1'000'000));
  log_.hazard("null-context", 1);
}

void Hazards::strays(const Communicator& comm) const {
  plugin_.calls().stop(kForeignParent);
  plugin_.calls().state(kForeignParent, kProxyOpInProgress);
  void* const stopped = call(plugin_.calls(), comm.profiler_context, collective(comm, 1'000'001));
  if (stopped != nullptr) {
    plugin_.calls().stop(stopped);
    plugin_.calls().state(stopped, kKernelChannelStop);
  }
  log_.hazard("strays", 1);
}

void Hazards::after_finalize(void* context) const {
  if (!wants(kLate) || !plugin_.calls().is_loaded()) {
    return;
  }
  Communicator gone;  // only its number is left of it
  call(plugin_.calls(), context, collective(gone, 1'000'002));
  log_.hazard("late", 1);
}

void Hazards::load_again(CommLifecycle& lifecycle) const {
  if (!wants(kReload)) {
    return;
  }
  std::unique_ptr<Communicator> comm = lifecycle.init_rank(MPI_COMM_WORLD);
  std::uint64_t n_events = 0;
  if (plugin_.calls().is_loaded()) {
    call(plugin_.calls(), comm->profiler_context, collective(*comm, 0));
    n_events = 1;
  }
  lifecycle.destroy(std::move(comm));
  log_.hazard("reload", n_events);
}

void Hazards::fork_child(const Communicator& comm) const {
  constexpr int kCalls = 3;
  const pid_t child = fork();
  if (child == 0) {
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      call(plugin_.calls(), comm.profiler_context, collective(comm, i));
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  log_.hazard(status == 0 ? "fork" : "fork-died", kCalls);
}

void Hazards::flood(const Communicator& comm) const {
  constexpr std::uint64_t kEvents = 500'000;
  const auto run = [&](std::uint64_t first) {
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      call(plugin_.calls(), comm.profiler_context, collective(comm, first + i));
    }
  };
  std::thread other(run, 3'000'000);
  run(2'000'000);
  other.join();
  log_.hazard("flood", 2 * kEvents);
}

}  // namespace jaxprof::puppets

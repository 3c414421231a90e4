#include "tests/puppets/plan.h"

#include <algorithm>

namespace jaxprof::puppets {
namespace {

// How many bytes cross a rank's link per byte of `Task::bytes`: what NCCL sorts the collectives of a plan by.
std::size_t traffic_bytes(const Task& task, int n_ranks) {
  switch (task.function) {
    case Function::kAllReduce:
      return 2 * task.bytes;
    case Function::kAllGather:
    case Function::kReduceScatter:
      return static_cast<std::size_t>(n_ranks) * task.bytes;
    default:
      return task.bytes;
  }
}

// Sends go round the ring of ranks clockwise while receives come from the other side; self first.
int distance(const Task& task, const Communicator& comm) {
  const int steps = task.function == Function::kSend ? task.root - comm.rank : comm.rank - task.root;
  return (steps + comm.n_ranks) % comm.n_ranks;
}

std::byte* at(const void* buffer, std::size_t offset_bytes) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + offset_bytes;
}

Task p2p_task(const Call& call, Function function, const void* buffer, int peer, std::size_t n_record) {
  return Task{.function = function,
              .send_buffer = buffer,
              .receive_buffer = nullptr,
              .count = call.count,
              .datatype = call.type->event,
              .bytes = call.bytes(),
              .root = peer,
              .tuning = {nullptr, nullptr, 2},
              .n_record = n_record,
              .type = call.type,
              .reduction = call.reduction};
}

Task collective_task(const Call& call, std::size_t n_record) {
  const bool is_counted_in_bytes = call.function == Function::kAllGather || call.function == Function::kBroadcast;
  return Task{.function = call.function,
              .send_buffer = call.send_buffer,
              .receive_buffer = call.receive_buffer,
              .count = is_counted_in_bytes ? call.bytes() : call.count,
              .datatype = is_counted_in_bytes ? "ncclInt8" : call.type->event,
              .bytes = call.bytes(),
              .root = call.root,
              .tuning = tune(call.function, call.bytes()),
              .n_record = n_record,
              .type = call.type,
              .reduction = call.reduction};
}

bool can_carry(Carrier carrier, Function function) {
  switch (carrier) {
    case Carrier::kKernel:
      return true;
    case Carrier::kSymmetricKernel:
      return function == Function::kAllReduce || function == Function::kAllGather ||
             function == Function::kReduceScatter;
    case Carrier::kCopyEngines:
      return function == Function::kAllGather || is_decomposed(function);
  }
  return false;
}

// Of kernels: as in NCCL's generated device code.
std::string kernel_type(const Task& task) {
  const std::string name = task.type->option;
  const std::string bits = std::to_string(8 * task.type->size_bytes);
  return name == "bfloat16" ? name.substr(0, 2) + bits : name.substr(0, 1) + bits;
}
std::string kernel_reduction(const Task& task) {
  const std::string name = task.reduction->option;
  const bool is_float = std::string(task.type->option).find("float") != std::string::npos;
  if (name == "sum") return "Sum";
  if (name == "prod") return "Prod";
  if (name == "avg") return is_float ? "PreMulSum" : "SumPostDiv";
  return "MinMax";
}

// The C++ symbol of a kernel with these parameters.
std::string mangled(const std::string& name, const char* parameters = "24ncclDevKernelArgsStorageILm4096EE") {
  return "_Z" + std::to_string(name.size()) + name + parameters;
}

std::string symmetric_kernel_name(const Task& task) {
  const std::string name = std::string("ncclSymkDevKernel_") + event_name(task.function);
  const char* const parameters = "21ncclSymkDevWorkArgs4K";
  if (task.function == Function::kAllGather) {
    return mangled(name + "_LL", parameters);
  }
  const char* const how = task.function == Function::kAllReduce ? "_RSxLD_AGxST" : "_LD";
  return mangled(name + how + "_sum_" + kernel_type(task), parameters);
}

}  // namespace

Tuning tune(Function function, std::size_t bytes) {
  constexpr std::size_t kLatencyBound = 64U << 10U;
  constexpr std::size_t kBandwidthBound = 1U << 20U;
  const bool has_tree = function == Function::kAllReduce;
  if (bytes <= kLatencyBound) {
    return {has_tree ? "TREE" : "RING", "LL", 2};
  }
  return bytes < kBandwidthBound ? Tuning{"RING", "LL128", 4} : Tuning{"RING", "SIMPLE", 8};
}

const Task* Plan::first_watched_task() const {
  for (const auto* const tasks : {&collectives, &p2ps}) {
    for (const Task& task : *tasks) {
      if (task.mask != 0) {
        return &task;
      }
    }
  }
  return nullptr;
}

void Plan::arrange() {
  std::stable_sort(collectives.begin(), collectives.end(), [this](const Task& a, const Task& b) {
    return traffic_bytes(a, comm->n_ranks) > traffic_bytes(b, comm->n_ranks);
  });
  std::stable_sort(p2ps.begin(), p2ps.end(),
                   [this](const Task& a, const Task& b) { return distance(a, *comm) < distance(b, *comm); });
}

std::string kernel_name(const Plan& plan) {
  if (plan.collectives.empty()) {
    return mangled("ncclDevKernel_SendRecv");
  }
  const Task& task = plan.collectives.front();
  if (plan.carrier == Carrier::kSymmetricKernel) {
    return symmetric_kernel_name(task);
  }
  std::string name = event_name(task.function);
  if (has_reduction(task.function)) {
    name += "_" + kernel_reduction(task) + "_" + kernel_type(task);
  }
  // NCCL builds kernels for LL only; they carry out the other protocols too.
  return mangled("ncclDevKernel_" + name + "_" + task.tuning.algorithm + "_LL");
}

unsigned kernel_channels(const Plan& plan) {
  unsigned most = 1;
  for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (const Task& task : *tasks) {
      most = std::max<unsigned>(most, task.tuning.n_channels);
    }
  }
  return most;
}

std::vector<Task> make_tasks(const Call& call, std::size_t n_record, Carrier wanted) {
  const Communicator& comm = *call.comm;
  std::vector<Task> tasks;
  if (is_p2p(call.function)) {
    const void* const buffer = call.function == Function::kSend ? call.send_buffer : call.receive_buffer;
    tasks.push_back(p2p_task(call, call.function, buffer, call.root, n_record));
    return tasks;
  }
  if (call.count == 0 || comm.n_ranks == 1) {
    return tasks;  // nothing to do, or a plain copy: NCCL makes no task of it
  }
  const Carrier carrier = can_carry(wanted, call.function) ? wanted : Carrier::kKernel;
  if (!is_decomposed(call.function) || carrier == Carrier::kCopyEngines) {
    tasks.push_back(collective_task(call, n_record));
    tasks.back().carrier = carrier;
    return tasks;
  }
  const bool is_root = comm.rank == call.root;
  const auto send = [&](std::size_t block, int peer) {
    const void* const buffer = at(call.send_buffer, block * call.bytes());
    tasks.push_back(p2p_task(call, Function::kSend, buffer, peer, n_record));
  };
  const auto receive = [&](std::size_t block, int peer) {
    const void* const buffer = at(call.receive_buffer, block * call.bytes());
    tasks.push_back(p2p_task(call, Function::kRecv, buffer, peer, n_record));
  };
  if (call.function == Function::kGather) {
    send(0, call.root);
  }
  for (int peer = 0; peer < comm.n_ranks; ++peer) {
    const auto block = static_cast<std::size_t>(peer);
    if (call.function == Function::kAlltoAll || (call.function == Function::kScatter && is_root)) {
      send(block, peer);
    }
    if (call.function == Function::kAlltoAll || (call.function == Function::kGather && is_root)) {
      receive(block, peer);
    }
  }
  if (call.function == Function::kScatter) {
    receive(0, call.root);
  }
  return tasks;
}

}  // namespace jaxprof::puppets

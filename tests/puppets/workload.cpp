#include "tests/puppets/workload.h"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "tests/puppets/clock.h"
#include "tests/puppets/step_range.h"

namespace jaxprof::puppets {
namespace {

// Fills with `value` as elements of `type`; 16-bit types get it as an integer, which is what MPI reduces.
void fill(std::vector<std::byte>& buffer, const DataType& type, int value) {
  const auto as = [&](auto element) {
    for (std::size_t at = 0; at + sizeof element <= buffer.size(); at += sizeof element) {
      std::memcpy(buffer.data() + at, &element, sizeof element);
    }
  };
  const std::string_view name = type.option;
  if (name == "float32") {
    as(static_cast<float>(value));
  } else if (name == "float64") {
    as(static_cast<double>(value));
  } else if (type.size_bytes == 8) {
    as(static_cast<std::int64_t>(value));
  } else if (type.size_bytes == 4) {
    as(static_cast<std::int32_t>(value));
  } else if (type.size_bytes == 2) {
    as(static_cast<std::int16_t>(value));
  } else {
    as(static_cast<std::int8_t>(value));
  }
}

bool has_world_rank(const Communicator& comm, int world_rank) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(comm.mpi, &own);
  int rank = MPI_UNDEFINED;
  MPI_Group_translate_ranks(world, 1, &world_rank, own, &rank);
  MPI_Group_free(&own);
  MPI_Group_free(&world);
  return rank != MPI_UNDEFINED;
}

}  // namespace

Workload::Workload(const Options& options, std::vector<Communicator*> comms, int world_rank, UserThread& thread,
                   const TruthLog& log, Hazards& hazards)
    : options_(options),
      comms_(std::move(comms)),
      world_rank_(world_rank),
      thread_(thread),
      log_(log),
      hazards_(hazards) {
  std::size_t largest = 0;
  for (const std::size_t size : options_.sizes_bytes) {
    largest = std::max(largest, size);
  }
  int n_ranks = 1;
  for (const Communicator* const comm : comms_) {
    n_ranks = std::max(n_ranks, comm->n_ranks);
    if (options_.slow && has_world_rank(*comm, options_.slow->rank)) slow_comms_.insert(comm);
  }
  send_buffer_.resize(largest * static_cast<std::size_t>(n_ranks));
  receive_buffer_.resize(send_buffer_.size());
  fill(send_buffer_, *options_.type, world_rank_ + 1);
}

void Workload::run() {
  for (int iteration = 0; iteration < options_.n_iterations; ++iteration) {
    const std::int64_t begin_realtime_ns = realtime_ns();
    const std::int64_t begin_raw_ns = raw_ns();
    thread_.set_iteration(iteration);
    hazards_.before_iteration(iteration);
    {
      const StepRange step(options_.uses_nvtx, iteration);
      run_iteration();
      thread_.stream().synchronize();
    }
    log_.iteration(iteration, begin_raw_ns, begin_realtime_ns, raw_ns());
  }
}

void Workload::run_iteration() {
  if (options_.work_ns > 0) sleep_ns(options_.work_ns);
  for (Communicator* const comm : comms_) {
    for (const Operation operation : options_.operations) {
      for (const std::size_t size_bytes : options_.sizes_bytes) {
        if (options_.n_replays > 0) {
          run_graph(operation, size_bytes, *comm);
        } else {
          run_operation(operation, size_bytes, *comm);
        }
        if (options_.synchronizes_each_call || options_.n_replays > 0) {
          thread_.stream().synchronize();
        }
      }
    }
  }
}

// Each operation becomes a graph of its own, so that capture and launches lie close together.
void Workload::run_graph(Operation operation, std::size_t size_bytes, Communicator& comm) {
  thread_.begin_capture();
  run_operation(operation, size_bytes, comm);
  thread_.end_capture();
  for (int i = 0; i < options_.n_replays; ++i) {
    thread_.replay();
  }
}

void Workload::run_operation(Operation operation, std::size_t size_bytes, Communicator& comm) {
  const int root = options_.root % comm.n_ranks;
  const auto single = [&](Function function, int with_root) {
    issue(make_call(function, size_bytes, comm, with_root));
  };
  switch (operation) {
    case Operation::kAllReduce:
      return single(Function::kAllReduce, 0);
    case Operation::kAllGather:
      return single(Function::kAllGather, 0);
    case Operation::kReduceScatter:
      return single(Function::kReduceScatter, 0);
    case Operation::kBroadcast:
      return single(Function::kBroadcast, root);
    case Operation::kReduce:
      return single(Function::kReduce, root);
    case Operation::kAlltoAll:
      return single(Function::kAlltoAll, 0);
    case Operation::kGather:
      return single(Function::kGather, root);
    case Operation::kScatter:
      return single(Function::kScatter, root);
    case Operation::kSendRecv:
      thread_.group_start();
      single(Function::kSend, (comm.rank + 1) % comm.n_ranks);
      single(Function::kRecv, (comm.rank + comm.n_ranks - 1) % comm.n_ranks);
      thread_.group_end();
      return;
    case Operation::kGroup:
      thread_.group_start();
      for (int i = 0; i < options_.group_size; ++i) {
        single(Function::kAllReduce, 0);
      }
      thread_.group_end();
      return;
  }
}

Call Workload::make_call(Function function, std::size_t size_bytes, Communicator& comm, int root_or_peer) {
  return {.function = function,
          .send_buffer = send_buffer_.data(),
          .receive_buffer = receive_buffer_.data(),
          .count = size_bytes / options_.type->size_bytes,
          .type = options_.type,
          .reduction = options_.reduction,
          .root = root_or_peer,
          .comm = &comm,
          .stream = &thread_.stream(),
          .holdup = holdup_of(function, comm)};
}

// Alike on all members of the communicator, which must agree on it.
Holdup Workload::holdup_of(Function function, const Communicator& comm) const {
  if (!options_.slow) return {};
  const auto every = static_cast<std::uint64_t>(options_.slow->every);
  if ((comm.n_calls[index_of(function)] + 1) % every != 0 || !slow_comms_.contains(&comm)) return {};
  return {options_.slow->delay_ns, options_.slow->rank == world_rank_};
}

void Workload::issue(const Call& call) {
  std::int64_t slept_ns = 0;
  if (options_.late && options_.late->rank == world_rank_ &&
      thread_.n_calls() % static_cast<std::uint64_t>(options_.late->every) == 0) {
    slept_ns = sleep_ns(options_.late->delay_ns);
  }
  thread_.call(call, slept_ns);
  crash_if_due();
}

void Workload::crash_if_due() const {
  const bool is_here = options_.crash_rank < 0 || options_.crash_rank == world_rank_;
  if (is_here && options_.crash_after_calls != 0 && thread_.n_calls() == options_.crash_after_calls) {
    std::signal(SIGSEGV, SIG_DFL);  // MPI's handler would print a page and change the way it ends
    std::raise(SIGSEGV);
  }
}

}  // namespace jaxprof::puppets

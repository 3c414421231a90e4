#include "tests/puppets/comm_lifecycle.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "tests/puppets/gpu.h"
#include "tests/puppets/proxy_thread.h"

namespace jaxprof::puppets {
namespace {

// FNV-1a, 64 bits.
std::uint64_t hash(const void* data, std::size_t size) {
  std::uint64_t value = 0xcbf29ce484222325U;
  for (const char c : std::string_view(static_cast<const char*>(data), size)) {
    value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return value;
}

std::uint64_t child_id(std::uint64_t parent, int n_splits, int color) {
  const std::array<std::uint64_t, 3> seed{parent, static_cast<std::uint64_t>(n_splits),
                                          static_cast<std::uint64_t>(color)};
  return hash(seed.data(), sizeof seed);
}

// CUDA's number of the device that NCCL would find current: `wanted`, or without a driver what it would be.
int cuda_device(int wanted) {
  const Gpu* const gpu = Gpu::find();
  return gpu == nullptr ? wanted : gpu->ordinal(wanted);
}

}  // namespace

Communicator::Communicator() = default;
Communicator::~Communicator() = default;

Place find_place(MPI_Comm world, int ranks_per_node) {
  int rank = 0;
  int n_ranks = 0;
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &n_ranks);
  if (ranks_per_node > 0) {
    return {rank / ranks_per_node, rank % ranks_per_node};
  }
  MPI_Comm node_comm = MPI_COMM_NULL;
  MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node_comm);
  Place place{0, 0};
  MPI_Comm_rank(node_comm, &place.local_rank);
  int leader = rank;
  MPI_Bcast(&leader, 1, MPI_INT, 0, node_comm);
  MPI_Comm_free(&node_comm);
  std::vector<int> leaders(static_cast<std::size_t>(n_ranks));
  MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, world);
  const std::set<int> nodes(leaders.begin(), leaders.end());
  place.node = static_cast<int>(std::distance(nodes.begin(), nodes.find(leader)));
  return place;
}

void CommLifecycle::fill(Communicator& comm) const {
  MPI_Comm_rank(comm.mpi, &comm.rank);
  MPI_Comm_size(comm.mpi, &comm.n_ranks);
  comm.device = cuda_device(place_.local_rank);
  comm.name = name_;
  comm.node_of_rank.resize(static_cast<std::size_t>(comm.n_ranks));
  MPI_Allgather(&place_.node, 1, MPI_INT, comm.node_of_rank.data(), 1, MPI_INT, comm.mpi);
  comm.n_nodes = static_cast<int>(std::set<int>(comm.node_of_rank.begin(), comm.node_of_rank.end()).size());
}

// NCCL runs the initialisation as an asynchronous job: the plugin's init sees neither the caller's thread nor, yet,
// the communicator's proxy thread.
void CommLifecycle::init_on_own_thread(Communicator& comm) {
  std::thread([this, &comm] {
    plugin_.init(comm);
    const bool is_kernel_watched = plugin_.calls().is_loaded() && (plugin_.mask() & profiler_abi::kKernelChannel) != 0;
    if (comm.n_nodes > 1 || is_kernel_watched) {
      comm.proxy = std::make_unique<ProxyThread>(plugin_, ranges_, comm);
    }
  }).join();
}

// 128 random bytes made by rank 0 and known to all, as NCCL's unique id is.
std::uint64_t CommLifecycle::make_id(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  std::array<unsigned char, 128> unique_id{};
  if (rank == 0 && getrandom(unique_id.data(), unique_id.size(), 0) != static_cast<ssize_t>(unique_id.size())) {
    std::fputs("nccl_puppet: getrandom failed, the communicator's id is not unique\n", stderr);
  }
  MPI_Bcast(unique_id.data(), static_cast<int>(unique_id.size()), MPI_BYTE, 0, comm);
  return hash(unique_id.data(), unique_id.size());
}

std::unique_ptr<Communicator> CommLifecycle::join(std::uint64_t id, int n_members, int rank) {
  auto comm = std::make_unique<Communicator>();
  ranges_.register_reductions();
  MPI_Comm_dup(MPI_COMM_SELF, &comm->mpi);
  comm->name = name_;
  comm->id = id;
  comm->rank = rank;
  comm->n_ranks = n_members;
  comm->n_nodes = 1;
  comm->device = cuda_device(rank);
  comm->node_of_rank.assign(static_cast<std::size_t>(n_members), place_.node);
  ranges_.push_comm_init(*comm);
  init_on_own_thread(*comm);
  ranges_.pop_comm_init(*comm);
  log_.comm(*comm, 0, 0, 0);
  return comm;
}

std::unique_ptr<Communicator> CommLifecycle::init_rank(MPI_Comm world) {
  auto comm = std::make_unique<Communicator>();
  ranges_.register_reductions();
  MPI_Comm_dup(world, &comm->mpi);
  fill(*comm);
  ranges_.push_comm_init(*comm);
  comm->id = make_id(comm->mpi);
  init_on_own_thread(*comm);
  ranges_.pop_comm_init(*comm);
  log_.comm(*comm, 0, 0, 0);
  return comm;
}

std::unique_ptr<Communicator> CommLifecycle::split(Communicator& parent, int color, int key) {
  auto comm = std::make_unique<Communicator>();
  ranges_.push_comm_split(parent, color, key);
  MPI_Comm_split(parent.mpi, color, key, &comm->mpi);
  fill(*comm);
  comm->id = child_id(parent.id, ++parent.n_splits, color);
  init_on_own_thread(*comm);
  ranges_.pop_comm_split(parent, color, key);
  log_.comm(*comm, parent.id, color, key);
  return comm;
}

void CommLifecycle::destroy(std::unique_ptr<Communicator> comm) {
  ranges_.push_comm_destroy(*comm);
  std::thread([this, &comm] {
    comm->proxy.reset();
    plugin_.finalize(*comm);
  }).join();
  MPI_Comm_free(&comm->mpi);
  ranges_.pop();
}

}  // namespace jaxprof::puppets

// A profiler for NCCL has to be tested on machines without a GPU, where NCCL itself refuses to start. This program
// stands in for a job that uses NCCL, of any release from 2.23 to 2.31: its ranks move real data with MPI, and to a
// profiler they look like NCCL ranks (profiler plugin, NVTX ranges, and kernels where the tests' CUDA driver is found).
// Its own log is the truth that a profile of it is compared with. README.md has the options, the log's format and what
// is not imitated.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/puppets/workload.h"

namespace jaxprof::puppets {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitNoThreads = 3;

std::string api_text(const Options& options) {
  if (!options.uses_plugin && !options.uses_nvtx) {
    return "none";
  }
  return std::string(options.uses_plugin ? "plugin" : "") + (options.uses_plugin && options.uses_nvtx ? "," : "") +
         (options.uses_nvtx ? "nvtx" : "");
}

// The communicators of one user thread: the world, and children of it by parity and by neighbourhood in turn.
std::vector<std::unique_ptr<Communicator>> make_comms(const Options& options, CommLifecycle& lifecycle) {
  std::vector<std::unique_ptr<Communicator>> comms;
  comms.push_back(lifecycle.init_rank(MPI_COMM_WORLD));
  for (int i = 0; i < options.n_splits; ++i) {
    Communicator& world = *comms.front();
    comms.push_back(lifecycle.split(world, i % 2 == 0 ? world.rank % 2 : world.rank / 2, world.rank));
  }
  return comms;
}

std::vector<Communicator*> pointers(const std::vector<std::unique_ptr<Communicator>>& comms) {
  std::vector<Communicator*> result;
  for (const auto& comm : comms) {
    result.push_back(comm.get());
  }
  return result;
}

// One user thread with its stream, communicators and work.
struct Lane {
  Lane(const Options& options, const ProfilerPlugin& plugin, const NvtxRanges& ranges, const TruthLog& log,
       CommLifecycle& lifecycle, Hazards& hazards, int rank, int device)
      : stream(log, Gpu::find(), device),
        thread(plugin, ranges, log, stream, options.how),
        comms(make_comms(options, lifecycle)),
        workload(options, pointers(comms), rank, thread, log, hazards) {}

  Stream stream;
  UserThread thread;
  std::vector<std::unique_ptr<Communicator>> comms;
  Workload workload;
};

int run(const Options& options) {
  int rank = 0;
  int n_ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  const Place place = find_place(MPI_COMM_WORLD, options.ranks_per_node);
  const TruthLog log(options.log_template, rank);
  if (!options.log_template.empty() && !log.is_open()) {
    std::fprintf(stderr, "nccl_puppet: rank %d cannot open its log %s\n", rank, options.log_template.c_str());
    MPI_Abort(MPI_COMM_WORLD, kExitUsage);
  }
  log.header(n_ranks, place.node, api_text(options));

  // 1. Communicators, and with the first of them the plugin.
  ProfilerPlugin plugin(options.uses_plugin, options.api_version);
  const NvtxRanges ranges(options.uses_nvtx, has_comms_in_nvtx(options.api_version));
  const char* const comm_name = options.comm_name.empty() ? nullptr : options.comm_name.c_str();
  CommLifecycle lifecycle(plugin, ranges, log, place, comm_name);
  Hazards hazards(options.hazards, plugin, log);
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < options.n_threads; ++i) {
    lanes.push_back(std::make_unique<Lane>(options, plugin, ranges, log, lifecycle, hazards, rank, place.local_rank));
  }
  log.plugin(plugin.status());

  // 2. The work; the first lane on the main thread.
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    threads.emplace_back([&lane = *lanes[i]] { lane.workload.run(); });
  }
  lanes.front()->workload.run();
  for (std::thread& thread : threads) {
    thread.join();
  }

  hazards.after_work(*lanes.front()->comms.front());

  // 3. Results, then the communicators go and with the last of them the plugin.
  std::uint64_t n_calls = 0;
  std::uint64_t digest = 0;
  for (const auto& lane : lanes) {
    n_calls += lane->thread.n_calls();
    digest += lane->stream.digest();
    for (; !lane->comms.empty(); lane->comms.pop_back()) {
      void* const context = lane->comms.back()->profiler_context;
      lifecycle.destroy(std::move(lane->comms.back()));
      hazards.after_finalize(context);
    }
  }
  hazards.load_again(lifecycle);
  log.footer(n_calls, digest);
  std::uint64_t job_digest = 0;
  MPI_Reduce(&digest, &job_digest, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("nccl_puppet: %d ranks, %llu calls a rank, result %016llx\n", n_ranks,
                static_cast<unsigned long long>(n_calls), static_cast<unsigned long long>(job_digest));
    std::fflush(stdout);
  }
  return options.exit_code;
}

}  // namespace
}  // namespace jaxprof::puppets

int main(int argc, char** argv) {
  using namespace jaxprof::puppets;
  std::string error;
  const std::optional<Options> options = parse_options(argc, argv, &error);
  if (!options) {
    std::fprintf(stderr, "nccl_puppet: %s\n", error.c_str());
    return kExitUsage;
  }
  if (options->wants_help) {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  // More ranks than cores is the normal case in tests: a waiting rank must not spin.
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  const int wanted = options->n_threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  if (provided < wanted) {
    std::fputs("nccl_puppet: this MPI cannot be called from several threads\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, kExitNoThreads);
  }
  const int status = run(*options);
  MPI_Finalize();
  return status;
}

// One process that drives several GPUs, as single-process JAX and nccl-tests with -t or -g do: it holds several members
// of one communicator. A profiler that keys what it sees by process, or by communicator, mixes them up. Each member
// joins on a thread of its own, as XLA's members do, and they all-reduce either on these threads or in one group on the
// main thread. The log is that of nccl_puppet. A member's transfer is a copy on its own stream; the program adds up
// what the members contributed, and fails where that is not what they should have.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/puppets/comm_lifecycle.h"
#include "tests/puppets/options.h"
#include "tests/puppets/stream.h"
#include "tests/puppets/user_thread.h"

namespace jaxprof::puppets {
namespace {

constexpr std::size_t kElements = 256;

struct Member {
  Member(const ProfilerPlugin& plugin, const NvtxRanges& ranges, const TruthLog& log, int rank)
      : stream(log, Gpu::find(), rank),
        thread(plugin, ranges, log, stream),
        sent(kElements, rank + 1),
        received(kElements, 0) {}

  Call all_reduce() {
    return {.function = Function::kAllReduce,
            .send_buffer = sent.data(),
            .receive_buffer = received.data(),
            .count = kElements,
            .type = find_option(kDataTypes, "int32"),
            .reduction = find_option(kReductions, "sum"),
            .root = 0,
            .comm = comm.get(),
            .stream = &stream};
  }

  std::unique_ptr<Communicator> comm;
  Stream stream;
  UserThread thread;
  std::vector<std::int32_t> sent;
  std::vector<std::int32_t> received;
};

template <typename Work>
void on_a_thread_each(std::vector<std::unique_ptr<Member>>& members, const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < members.size(); ++i) {
    threads.emplace_back([&work, &member = *members[i], i] { work(member, static_cast<int>(i)); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

void reduce_on_own_threads(std::vector<std::unique_ptr<Member>>& members, int n_iterations) {
  on_a_thread_each(members, [n_iterations](Member& member, int) {
    for (int i = 0; i < n_iterations; ++i) {
      member.thread.set_iteration(i);
      member.thread.call(member.all_reduce(), 0);
      member.stream.synchronize();
    }
  });
}

void reduce_in_groups(std::vector<std::unique_ptr<Member>>& members, int n_iterations) {
  UserThread& main_thread = members.front()->thread;
  for (int i = 0; i < n_iterations; ++i) {
    main_thread.set_iteration(i);
    main_thread.group_start();
    for (const auto& member : members) {
      main_thread.call(member->all_reduce(), 0);
    }
    main_thread.group_end();
    for (const auto& member : members) {
      member->stream.synchronize();
    }
  }
}

bool is_sum_right(const std::vector<std::unique_ptr<Member>>& members) {
  std::int64_t sum = 0;
  for (const auto& member : members) {
    sum += member->received.back();
  }
  const auto n = static_cast<std::int64_t>(members.size());
  return sum == n * (n + 1) / 2;
}

int run(int n_members, int n_iterations, bool is_grouped, const char* log_path) {
  const TruthLog log(log_path, 0);
  if (!log.is_open()) {
    std::fprintf(stderr, "members_puppet: cannot open its log %s\n", log_path);
    return EXIT_FAILURE;
  }
  log.header(1, 0, "plugin,nvtx");
  ProfilerPlugin plugin(true, 5);
  const NvtxRanges ranges(true);
  CommLifecycle lifecycle(plugin, ranges, log, {0, 0});
  std::vector<std::unique_ptr<Member>> members;
  for (int rank = 0; rank < n_members; ++rank) {
    members.push_back(std::make_unique<Member>(plugin, ranges, log, rank));
  }
  const std::uint64_t id = CommLifecycle::make_id(MPI_COMM_SELF);
  on_a_thread_each(members, [&](Member& member, int rank) { member.comm = lifecycle.join(id, n_members, rank); });
  log.plugin(plugin.status());
  is_grouped ? reduce_in_groups(members, n_iterations) : reduce_on_own_threads(members, n_iterations);
  std::uint64_t n_calls = 0;
  for (const auto& member : members) {
    n_calls += member->thread.n_calls();
    lifecycle.destroy(std::move(member->comm));
  }
  log.footer(n_calls, 0);
  if (n_iterations > 0 && !is_sum_right(members)) {
    std::fputs("members_puppet: the members' sum is wrong\n", stderr);
    return EXIT_FAILURE;
  }
  std::printf("members_puppet: %d members, %llu calls\n", n_members, static_cast<unsigned long long>(n_calls));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace jaxprof::puppets

int main(int argc, char** argv) {
  const std::string_view way = argc == 5 ? argv[3] : "";
  const int n_members = argc == 5 ? std::atoi(argv[1]) : 0;
  if (n_members < 1 || (way != "threads" && way != "group")) {
    std::fputs("usage: members_puppet MEMBERS ITERATIONS threads|group LOG\n", stderr);
    return 2;
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int status = provided == MPI_THREAD_MULTIPLE
                         ? jaxprof::puppets::run(n_members, std::atoi(argv[2]), way == "group", argv[4])
                         : 3;
  MPI_Finalize();
  return status;
}

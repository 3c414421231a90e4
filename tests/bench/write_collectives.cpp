// A run file of nothing but collectives, as large as asked for: PROCESSES ranks with a GPU each, COLLECTIVES of all of
// them, in steps of a hundred; one rank is a little late to each. For timing what studies make of arrivals.
//
// Usage: write_collectives PROCESSES COLLECTIVES RUN.h5
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {
namespace {

constexpr std::uint32_t kRanksOfNode = 8;
constexpr std::uint64_t kCallsOfStep = 100;
constexpr std::int64_t kPeriodNs = 1'000'000;
constexpr std::int64_t kAheadNs = 60'000;
constexpr std::int64_t kTransferNs = 300'000;
constexpr std::uint32_t kLateRank = 3;

struct Size {
  std::uint32_t processes = 64;
  std::uint64_t collectives = 125'000;
};

// When a rank comes to a collective. The same whoever asks.
std::int64_t arrival_ns(std::uint32_t rank, std::uint64_t call) {
  std::uint64_t hash = (call * 1'000'003 + rank) * 0x9E37'79B9'7F4A'7C15;
  hash ^= hash >> 29;
  const auto jitter_ns = static_cast<std::int64_t>(hash % 20'000);
  return static_cast<std::int64_t>(call + 2) * kPeriodNs + jitter_ns + (rank == kLateRank ? 150'000 : 0);
}

void add_job(const Size& size, RunTables& run) {
  resize_rows(run.processes, size.processes);
  resize_rows(run.devices, size.processes);
  resize_rows(run.comm_members, size.processes);
  resize_rows(run.nodes, (size.processes + kRanksOfNode - 1) / kRanksOfNode);
  for (std::uint32_t node = 0; node < run.nodes.node.size(); ++node) {
    run.nodes.node[node] = node;
    run.nodes.host[node] = run.strings.intern("node" + std::to_string(node));
  }
  for (std::uint32_t p = 0; p < size.processes; ++p) {
    run.processes.process[p] = run.devices.device[p] = p;
    run.processes.rank[p] = static_cast<std::int32_t>(p);
    run.processes.node[p] = run.devices.node[p] = p / kRanksOfNode;
    run.processes.local_rank[p] = run.devices.ordinal[p] = static_cast<std::int32_t>(p % kRanksOfNode);
    run.processes.start_ns[p] = 0;
    run.processes.end_ns[p] = static_cast<std::int64_t>(size.collectives + 3) * kPeriodNs;
    run.devices.process[p] = run.comm_members.member_process[p] = p;
    run.comm_members.member_comm_rank[p] = run.comm_members.member_device[p] = static_cast<std::int32_t>(p);
  }
  add_row(run.comms);
  run.comms.comm[0] = 0;
  run.comms.n_ranks[0] = size.processes;
  run.comms.n_nodes[0] = static_cast<std::uint32_t>(run.nodes.node.size());
  run.comm_member_offset = {0, size.processes};
  run.attributes.n_nodes = run.comms.n_nodes[0];
  run.attributes.n_processes = run.attributes.world_size = size.processes;
}

void add_calls(const Size& size, RunTables& run) {
  NcclTable& t = run.nccl;
  resize_rows(t, size.processes * size.collectives);
  std::size_t row = 0;
  for (std::uint32_t p = 0; p < size.processes; ++p) {
    for (std::uint64_t call = 0; call < size.collectives; ++call, ++row) {
      t.gpu_start_ns[row] = arrival_ns(p, call);
      t.start_ns[row] = t.enqueue_ns[row] = t.gpu_start_ns[row] - kAheadNs;
      t.end_api_ns[row] = t.start_ns[row] + 4'000;
      const std::int64_t end_ns = arrival_ns(kLateRank, call) + kTransferNs + static_cast<std::int64_t>(row % 700);
      t.gpu_dur_ns[row] = end_ns - t.gpu_start_ns[row];
      t.comm[row] = 0;
      t.comm_rank[row] = t.device[row] = static_cast<std::int32_t>(p);
      t.seq[row] = t.instance[row] = call;
      t.coll[row] = Coll::kAllReduce;
      t.dtype[row] = Dtype::kBf16;
      t.size_bytes[row] = t.bytes[row] = 1 << 20;
      t.src[row] = NcclSource::kNcclPlugin;
      t.timing[row] = Timing::kCupti;
    }
    run.nccl_process_offset.push_back(row);
  }
}

void add_instances(const Size& size, RunTables& run) {
  CollectiveTable& t = run.collectives;
  resize_rows(t, size.collectives);
  run.collective_members.event_row.reserve(size.processes * size.collectives);
  for (std::uint64_t call = 0; call < size.collectives; ++call) {
    t.comm[call] = 0;
    t.seq[call] = call;
    t.coll[call] = Coll::kAllReduce;
    t.dtype[call] = Dtype::kBf16;
    t.size_bytes[call] = 1 << 20;
    t.n_ranks[call] = t.n_seen[call] = size.processes;
    t.first_start_ns[call] = static_cast<std::int64_t>(call + 2) * kPeriodNs;
    t.last_start_ns[call] = arrival_ns(kLateRank, call);
    t.first_end_ns[call] = t.last_end_ns[call] = t.last_start_ns[call] + kTransferNs;
    t.first_enqueue_ns[call] = t.first_start_ns[call] - kAheadNs;
    t.last_enqueue_ns[call] = t.last_start_ns[call] - kAheadNs;
    t.flags[call] = kInstanceCertain;
    t.clock_sigma_ns[call] = 300;
    t.clock_bound_ns[call] = 6'000;
    for (std::uint32_t p = 0; p < size.processes; ++p) {
      run.collective_members.event_row.push_back(p * size.collectives + call);
    }
    run.collective_member_offset.push_back(run.collective_members.event_row.size());
  }
}

void add_steps(const Size& size, RunTables& run) {
  const std::uint64_t n_steps = (size.collectives + kCallsOfStep - 1) / kCallsOfStep;
  resize_rows(run.steps, n_steps * size.processes);
  std::size_t row = 0;
  for (std::uint32_t p = 0; p < size.processes; ++p) {
    for (std::uint64_t step = 0; step < n_steps; ++step, ++row) {
      run.steps.step[row] = static_cast<std::int64_t>(step);
      run.steps.process[row] = p;
      run.steps.start_ns[row] = static_cast<std::int64_t>(step * kCallsOfStep + 1) * kPeriodNs + kPeriodNs / 2;
      run.steps.dur_ns[row] = static_cast<std::int64_t>(kCallsOfStep) * kPeriodNs - 1'000;
    }
    run.step_process_offset.push_back(row);
  }
}

int write(const Size& size, const std::string& path) {
  RunTables run;
  add_job(size, run);
  add_calls(size, run);
  add_instances(size, run);
  add_steps(size, run);
  fill_empty_offsets(run);
  const auto written = write_run_file(run, path);
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return 1;
}

}  // namespace
}  // namespace jaxprof::runfile

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: write_collectives PROCESSES COLLECTIVES RUN.h5\n");
    return 2;
  }
  jaxprof::runfile::Size size;
  size.processes = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  size.collectives = std::strtoull(argv[2], nullptr, 10);
  return jaxprof::runfile::write(size, argv[3]);
}

// Builds the tables in the order of the file: by process, then by time.
#include "tests/unit/study/calls.h"

#include "merge/runfile/table_rows.h"

namespace jaxprof::study::test {
namespace {

using namespace jaxprof::runfile;

void add_process(RunTables& run, std::size_t rank) {
  const std::size_t process = add_row(run.processes);
  run.processes.process[process] = static_cast<std::uint32_t>(process);
  run.processes.rank[process] = static_cast<std::int32_t>(rank);
  const std::size_t member = add_row(run.comm_members);
  run.comm_members.member_process[member] = static_cast<std::uint32_t>(process);
  run.comm_members.member_comm_rank[member] = static_cast<std::int32_t>(rank);
}

void add_call(RunTables& run, std::size_t rank, std::size_t k, const Call& call) {
  NcclTable& t = run.nccl;
  const std::size_t row = add_row(t);
  t.start_ns[row] = static_cast<std::int64_t>(1'000'000 * (k + 1));
  t.end_api_ns[row] = t.start_ns[row] + call.host_ns;
  t.gpu_dur_ns[row] = call.gpu_ns;
  t.gpu_start_ns[row] = call.gpu_start_ns;
  if (call.gpu_ns >= 0) t.path[row] = JoinPath::kExternal;
  t.graph[row] = call.is_captured ? 1 : 0;
  if (call.replay >= 0) t.replay[row] = static_cast<std::uint64_t>(call.replay);
  t.comm[row] = 0;
  t.comm_rank[row] = static_cast<std::int32_t>(rank);
  t.seq[row] = k;
  t.coll[row] = call.coll;
  t.dtype[row] = Dtype::kF32;
  t.size_bytes[row] = call.size_bytes;
  t.instance[row] = k;
}

// The GPU times of the instance's members, if all have them.
void set_gpu_times(RunTables& run, std::size_t instance, const std::vector<Call>& members) {
  CollectiveTable& t = run.collectives;
  for (const Call& call : members) {
    if (call.gpu_start_ns < 0) return;
  }
  for (const Call& call : members) {
    t.last_start_ns[instance] = std::max(t.last_start_ns[instance], call.gpu_start_ns);
    t.last_end_ns[instance] = std::max(t.last_end_ns[instance], call.gpu_start_ns + call.gpu_ns);
  }
}

}  // namespace

RunTables run_of(const std::vector<std::vector<Call>>& calls) {
  RunTables run;
  const std::size_t comm = add_row(run.comms);
  run.comms.comm[comm] = 0;
  run.comms.n_ranks[comm] = static_cast<std::uint32_t>(calls.size());
  std::size_t n_instances = 0;
  for (std::size_t rank = 0; rank < calls.size(); ++rank) {
    add_process(run, rank);
    for (std::size_t k = 0; k < calls[rank].size(); ++k) add_call(run, rank, k, calls[rank][k]);
    run.nccl_process_offset.push_back(run.nccl.start_ns.size());
    run.nvtx_process_offset.push_back(0);
    run.step_process_offset.push_back(0);
    n_instances = std::max(n_instances, calls[rank].size());
  }
  fill_empty_offsets(run);
  run.comm_member_offset = {0, calls.size()};
  for (std::size_t k = 0; k < n_instances; ++k) {
    const std::size_t instance = add_row(run.collectives);
    run.collectives.comm[instance] = 0;
    std::vector<Call> members;
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      if (k < calls[rank].size()) {
        members.push_back(calls[rank][k]);
        run.collective_members.event_row.push_back(run.nccl_process_offset[rank] + k);
      }
    }
    set_gpu_times(run, instance, members);
    run.collective_member_offset.push_back(run.collective_members.event_row.size());
  }
  return run;
}

}  // namespace jaxprof::study::test

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
  t.comm[row] = 0;
  t.comm_rank[row] = static_cast<std::int32_t>(rank);
  t.seq[row] = k;
  t.coll[row] = call.coll;
  t.dtype[row] = Dtype::kF32;
  t.size_bytes[row] = call.size_bytes;
  t.instance[row] = k;
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
    for (std::size_t rank = 0; rank < calls.size(); ++rank) {
      if (k < calls[rank].size()) {
        run.collective_members.event_row.push_back(run.nccl_process_offset[rank] + k);
      }
    }
    run.collective_member_offset.push_back(run.collective_members.event_row.size());
  }
  return run;
}

}  // namespace jaxprof::study::test

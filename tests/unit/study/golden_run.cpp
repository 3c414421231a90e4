#include "tests/unit/study/golden_run.h"

#include <array>

#include "merge/runfile/table_rows.h"
#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study::test {
namespace {

using namespace jaxprof::runfile;

constexpr std::int64_t kUs = 1'000;
constexpr std::size_t kRanks = 3;

Work work_at(std::uint32_t rank, std::int64_t begin_us, std::int64_t end_us) {
  Work work;
  work.process = rank;
  work.start_ns = begin_us * kUs;
  work.dur_ns = (end_us - begin_us) * kUs;
  work.launch_ns = (begin_us == 650 ? 200 : begin_us - 9) * kUs;
  return work;
}

Work call_at(std::uint32_t rank, std::int64_t begin_us, std::int64_t end_us) {
  Work work = work_at(rank, begin_us, end_us);
  work.kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  work.is_nccl = true;
  return work;
}

std::vector<Work> all_work() {
  std::vector<Work> work = {work_at(0, 100, 300),   call_at(0, 300, 650),   work_at(0, 650, 700),  call_at(0, 700, 900),
                            work_at(0, 1100, 1300), call_at(0, 1300, 1750),

                            work_at(1, 100, 400),   call_at(1, 400, 650),   work_at(1, 650, 750),  call_at(1, 750, 900),
                            work_at(1, 1100, 1350), call_at(1, 1300, 1750),

                            work_at(2, 100, 600),   call_at(2, 600, 650),   work_at(2, 650, 750),  call_at(2, 750, 900),
                            work_at(2, 1100, 1300), work_at(2, 1300, 1350), call_at(2, 1700, 1750)};
  Work& copy = work[work.size() - 2];
  copy.copy = MemopKind::kHtoD;
  copy.bytes = 1'000'000;
  return work;
}

// What one instance is; its members are the n-th calls of all ranks.
struct Instance {
  Coll coll;
  std::uint64_t seq;
  std::uint64_t size_bytes;
};
constexpr std::array<Instance, 3> kInstances = {
    {{Coll::kAllReduce, 0, 1'000'000}, {Coll::kAllGather, 0, 3'000'000}, {Coll::kAllReduce, 1, 1'000'000}}};

void add_instance(RunTables& run, std::size_t n) {
  CollectiveTable& t = run.collectives;
  const std::size_t row = add_row(t);
  t.comm[row] = 0;
  t.coll[row] = kInstances[n].coll;
  t.seq[row] = kInstances[n].seq;
  t.dtype[row] = Dtype::kF32;
  t.size_bytes[row] = kInstances[n].size_bytes;
  t.n_ranks[row] = kRanks;
  t.n_seen[row] = kRanks;
  t.flags[row] = kInstanceCertain;
  t.clock_bound_ns[row] = 1 * kUs;
  t.clock_sigma_ns[row] = 100;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const std::uint64_t call = run.nccl_process_offset[rank] + n;
    NcclTable& calls = run.nccl;
    calls.start_ns[call] = calls.gpu_start_ns[call] - 10 * kUs;
    calls.enqueue_ns[call] = calls.start_ns[call];
    calls.end_api_ns[call] = calls.start_ns[call] + 5 * kUs;
    calls.coll[call] = kInstances[n].coll;
    calls.seq[call] = kInstances[n].seq;
    calls.size_bytes[call] = kInstances[n].size_bytes;
    calls.instance[call] = row;
    const std::int64_t start_ns = calls.gpu_start_ns[call];
    t.first_start_ns[row] = rank == 0 ? start_ns : std::min(t.first_start_ns[row], start_ns);
    t.last_start_ns[row] = std::max(t.last_start_ns[row], start_ns);
    t.last_end_ns[row] = std::max(t.last_end_ns[row], start_ns + calls.gpu_dur_ns[call]);
    run.collective_members.event_row.push_back(call);
  }
  t.first_enqueue_ns[row] = t.first_start_ns[row] - 10 * kUs;
  t.last_enqueue_ns[row] = t.last_start_ns[row] - 10 * kUs;
  run.collective_member_offset.push_back(run.collective_members.event_row.size());
}

}  // namespace

RunTables golden_run() {
  RunTables run =
      run_of_work({.processes = kRanks, .gpus = 1, .processes_of_node = 2, .end_ns = 2000 * kUs}, all_work());
  for (std::size_t n = 0; n < kInstances.size(); ++n) add_instance(run, n);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    add_steps(run, rank, {{0, 0, 1000 * kUs}, {1, 1000 * kUs, 1000 * kUs}});
    run.step_process_offset[rank + 1] = n_rows(run.steps);
    run.comm_members.member_device[rank] = static_cast<std::int32_t>(rank);
  }
  return run;
}

}  // namespace jaxprof::study::test

#include "merge/match/instances.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "merge/match/clock_errors.h"
#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

using runfile::RunTables;

// Of a part, the number of its whole call counts.
CallRecord record_of(const RunTables& run, std::uint64_t row) {
  const runfile::NcclTable& nccl = run.nccl;
  CallRecord call;
  call.row = row;
  call.replay = nccl.replay[row];
  call.size_bytes = nccl.size_bytes[row];
  call.enqueue_ns = nccl.enqueue_ns[row];
  call.gpu_start_ns = nccl.gpu_start_ns[row];
  call.gpu_dur_ns = nccl.gpu_dur_ns[row];
  call.comm = nccl.comm[row];
  call.comm_rank = nccl.comm_rank[row];
  call.peer = nccl.peer[row];
  call.root = nccl.root[row];
  call.coll = nccl.coll[row];
  call.dtype = nccl.dtype[row];
  call.redop = nccl.redop[row];
  call.algo = nccl.algo[row];
  call.proto = nccl.proto[row];
  const std::uint64_t parent = nccl.parent[row];
  call.is_part = parent != runfile::kNoRow;
  const std::uint64_t numbered = call.is_part ? parent : row;
  call.seq = nccl.seq[numbered];
  call.capture = nccl.capture[numbered];
  if (call.is_part) call.whole = nccl.coll[parent];
  return call;
}

}  // namespace

std::vector<CallRecord> call_records(const RunTables& run, const std::vector<std::uint64_t>& calls_in_plan) {
  std::vector<CallRecord> calls;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int32_t>, std::uint64_t> next_order;
  for (std::uint32_t process = 0; process + std::size_t{1} < run.nccl_process_offset.size(); ++process) {
    for (std::uint64_t row = run.nccl_process_offset[process]; row < run.nccl_process_offset[process + 1]; ++row) {
      CallRecord call = record_of(run, row);
      call.process = process;
      call.calls_in_plan = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(calls_in_plan[row], std::numeric_limits<std::uint32_t>::max()));
      const bool is_ordered = !call.is_part && !is_point_to_point(call.coll) && call.capture == runfile::kNoRow &&
                              call.replay == runfile::kNoRow && call.comm != runfile::kNoIndex &&
                              call.seq != runfile::kNoRow;
      if (is_ordered) call.order = next_order[{process, call.comm, call.comm_rank}]++;
      calls.push_back(call);
    }
  }
  return calls;
}

MatchFacts match_facts(const RunTables& run, const std::vector<bool>& has_lost_gpu_work) {
  MatchFacts facts;
  facts.rank_count = run.comms.n_ranks;
  facts.node = run.processes.node;
  facts.has_lost_gpu_work = has_lost_gpu_work;
  facts.opened_by_time.resize(std::max(run.processes.process.size(), run.processes.node.size()));
  // A window that opens by the clock opens in another replay on each rank.
  for (std::size_t row = 0; row < run.segments.process.size(); ++row) {
    if (run.segments.open_cause[row] == runfile::WindowCause::kDelay) {
      facts.opened_by_time[run.segments.process[row]] = true;
    }
  }
  return facts;
}

UnmatchedCalls match_instances(const std::vector<std::uint64_t>& calls_in_plan,
                               const std::vector<bool>& has_lost_gpu_work, RunTables* run) {
  const ClockErrors clocks(*run);
  MatchFacts facts = match_facts(*run, has_lost_gpu_work);
  facts.clocks = &clocks;
  // Nothing can fail: what fits into memory anyway is not written to a disk.
  InstanceMatcher matcher(std::move(facts), "", std::numeric_limits<std::size_t>::max());
  for (const CallRecord& call : call_records(*run, calls_in_plan)) (void)matcher.add(call);
  const auto unmatched = matcher.match_collectives([run](const InstanceBatch& batch) -> Status {
    const std::uint64_t first = run->collective_members.event_row.size();
    runfile::append_rows(run->collectives, batch.collectives);
    for (const CallRecord& call : batch.calls) run->collective_members.event_row.push_back(call.row);
    for (std::size_t i = 1; i < batch.first_member.size(); ++i) {
      run->collective_member_offset.push_back(first + batch.first_member[i]);
    }
    return {};
  });
  run->nccl.instance.clear();
  (void)matcher.for_each_instance(run->nccl.comm.size(), [run](std::span<const std::uint64_t> rows) -> Status {
    run->nccl.instance.insert(run->nccl.instance.end(), rows.begin(), rows.end());
    return {};
  });
  return *unmatched;
}

}  // namespace jaxprof::match

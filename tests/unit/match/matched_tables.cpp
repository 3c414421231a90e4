#include "tests/unit/match/matched_tables.h"

#include <algorithm>
#include <limits>

#include "merge/match/call_records.h"
#include "merge/match/clock_errors.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
using runfile::RunTables;

std::vector<CallRecord> call_records(const RunTables& run, const std::vector<std::uint64_t>& calls_in_plan) {
  const std::vector<std::uint32_t> plans(calls_in_plan.begin(), calls_in_plan.end());
  std::vector<CallRecord> calls;
  for (std::uint32_t process = 0; process + std::size_t{1} < run.nccl_process_offset.size(); ++process) {
    const ProcessRows rows{process, run.nccl_process_offset[process], run.nccl_process_offset[process + 1], 0};
    (void)for_each_record(run.nccl, rows, plans, [&calls](const CallRecord& call) -> Status {
      calls.push_back(call);
      return {};
    });
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

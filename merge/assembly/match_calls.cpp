#include "merge/assembly/match_calls.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "merge/assembly/clock_audit.h"
#include "merge/assembly/matching_findings.h"
#include "merge/match/clock_errors.h"
#include "merge/match/instance_matcher.h"
#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::EventTables;
using runfile::NcclTable;
using runfile::RunTables;

// A window that opens by the clock opens in another replay on each rank; replays are then not numbered alike.
std::vector<bool> find_time_windows(const RunTables& run) {
  std::vector<bool> opened_by_time(run.processes.process.size());
  for (std::size_t row = 0; row < run.segments.process.size(); ++row) {
    if (run.segments.open_cause[row] == runfile::WindowCause::kDelay) opened_by_time[run.segments.process[row]] = true;
  }
  return opened_by_time;
}

match::CallRecord record_of(const NcclTable& calls, std::size_t row) {
  match::CallRecord record;
  record.seq = calls.seq[row];
  record.capture = calls.capture[row];
  record.replay = calls.replay[row];
  record.size_bytes = calls.size_bytes[row];
  record.enqueue_ns = calls.enqueue_ns[row];
  record.gpu_start_ns = calls.gpu_start_ns[row];
  record.gpu_dur_ns = calls.gpu_dur_ns[row];
  record.comm = calls.comm[row];
  record.comm_rank = calls.comm_rank[row];
  record.peer = calls.peer[row];
  record.root = calls.root[row];
  record.coll = calls.coll[row];
  record.dtype = calls.dtype[row];
  record.redop = calls.redop[row];
  record.algo = calls.algo[row];
  record.proto = calls.proto[row];
  record.is_part = calls.parent[row] != runfile::kNoRow;
  return record;
}

class Matching {
 public:
  Matching(const CommTables& comms, const std::vector<bool>& has_lost_gpu_work, std::int64_t epoch_ns,
           const MatchingRoom& room, EventSink* sink, RunTables* run)
      : comms_(comms),
        sink_(*sink),
        run_(*run),
        errors_(*run, epoch_ns),
        audit_(*run, errors_),
        matcher_({run->comms.n_ranks, run->processes.node, find_time_windows(*run), has_lost_gpu_work, &errors_},
                 room.scratch_folder, room.budget_bytes) {}

  Status run(CallStore* store, Diagnostics* diagnostics) {
    for (std::size_t process = 0; process < store->n_processes(); ++process) {
      auto calls = store->take(process);
      if (!calls) return tl::unexpected(std::move(calls.error()));
      if (auto added = add_process(static_cast<std::uint32_t>(process), std::move(*calls)); !added) return added;
    }
    fill_member_devices();
    const auto unmatched = matcher_.match_collectives([this](const auto& batch) { return take_instances(batch); });
    if (!unmatched) return tl::unexpected(unmatched.error());
    Status status = matcher_.match_transfers([this](const runfile::TransferTable& transfers) {
      EventTables rows;
      rows.transfers = transfers;
      return sink_.append(rows);
    });
    const std::uint64_t row_count = run_.nccl_process_offset.back();
    if (status)
      status = matcher_.for_each_instance(row_count, [this](auto rows) { return sink_.append_instances(rows); });
    if (status)
      status = matcher_.for_each_transfer(row_count, [this](auto rows) { return sink_.append_transfers(rows); });
    if (!status) return status;
    audit_.fill(&run_.clock_audit);
    counts_.diagnose(*unmatched, diagnostics);
    return {};
  }

 private:
  // Which member of a communicator makes a call.
  using Member = std::pair<std::uint32_t, std::int32_t>;  // communicator and rank

  Status add_process(std::uint32_t process, StoredCalls stored) {
    NcclTable& calls = stored.rows;
    const std::size_t count = calls.start_ns.size();
    std::map<Member, std::uint64_t> order;
    for (std::size_t row = 0; row < count; ++row) {
      number_comm(stored.comm_hashes, row, &calls);
      match::CallRecord record = record_of(calls, row);
      record.row = run_.nccl_process_offset[process] + row;
      record.process = process;
      record.calls_in_plan = stored.calls_in_plan[row];
      const bool is_in_order = record.comm != runfile::kNoIndex && !match::is_point_to_point(record.coll) &&
                               !record.is_part && record.capture == runfile::kNoRow && record.replay == runfile::kNoRow;
      if (is_in_order) record.order = order[{record.comm, record.comm_rank}]++;
      const bool has_device = calls.device[row] >= 0 && record.comm != runfile::kNoIndex && record.comm_rank >= 0;
      if (has_device) member_devices_.try_emplace({record.comm, record.comm_rank}, calls.device[row]);
      if (auto added = matcher_.add(record); !added) return added;
    }
    counts_.add(calls);
    EventTables rows;
    rows.nccl = std::move(calls);
    return sink_.append(rows);
  }

  // From the process's number of the communicator to the run's, with what hangs on its size.
  void number_comm(const std::vector<std::uint64_t>& hashes, std::size_t row, NcclTable* calls) const {
    if (calls->comm[row] == runfile::kNoIndex) return;
    const std::uint64_t hash = hashes[calls->comm[row]];
    calls->comm[row] = comms_.index(hash);
    const std::int32_t ranks = comms_.rank_count(hash);
    const bool is_per_rank = calls->bytes[row] != runfile::kNoRow && match::is_size_per_rank(calls->coll[row]);
    if (is_per_rank && ranks > 0) calls->size_bytes[row] = calls->bytes[row] * static_cast<std::uint64_t>(ranks);
  }

  // Members whose GPU only their kernels tell.
  void fill_member_devices() {
    runfile::CommMemberTable& members = run_.comm_members;
    for (std::uint32_t comm = 0; comm < run_.comms.comm.size(); ++comm) {
      for (std::uint64_t i = run_.comm_member_offset[comm]; i < run_.comm_member_offset[comm + 1]; ++i) {
        const auto device = member_devices_.find({comm, members.member_comm_rank[i]});
        if (members.member_device[i] < 0 && device != member_devices_.end()) members.member_device[i] = device->second;
      }
    }
  }

  Status take_instances(const match::InstanceBatch& batch) {
    audit_.check(batch);
    counts_.add(batch.collectives);
    EventTables rows;
    rows.collectives = batch.collectives;
    for (const match::CallRecord& call : batch.calls) rows.collective_members.event_row.push_back(call.row);
    std::vector<std::uint64_t> ends;
    for (std::size_t i = 1; i < batch.first_member.size(); ++i) ends.push_back(n_members_ + batch.first_member[i]);
    n_members_ += batch.calls.size();
    return sink_.append(rows).and_then([&] { return sink_.append_member_ends(ends); });
  }

  const CommTables& comms_;
  EventSink& sink_;
  RunTables& run_;
  const match::ClockErrors errors_;
  ClockAudit audit_;
  match::InstanceMatcher matcher_;
  MatchingCounts counts_;
  std::map<Member, std::int32_t> member_devices_;
  std::uint64_t n_members_ = 0;
};

}  // namespace

Status match_calls(CallStore* calls, const CommTables& comms, const std::vector<bool>& has_lost_gpu_work,
                   std::int64_t epoch_ns, const MatchingRoom& room, EventSink* sink, RunTables* run,
                   Diagnostics* diagnostics) {
  return Matching(comms, has_lost_gpu_work, epoch_ns, room, sink, run).run(calls, diagnostics);
}

}  // namespace jaxprof::assembly

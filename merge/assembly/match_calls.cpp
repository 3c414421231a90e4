#include "merge/assembly/match_calls.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "merge/assembly/call_findings.h"
#include "merge/assembly/clock_audit.h"
#include "merge/assembly/matching_findings.h"
#include "merge/match/call_order.h"
#include "merge/match/call_records.h"
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

// When the window of each process opened, on the axis of the rows.
std::vector<std::vector<std::int64_t>> window_openings(const RunTables& run, std::int64_t epoch_ns) {
  std::vector<std::vector<std::int64_t>> openings(run.processes.process.size());
  for (std::size_t row = 0; row < run.segments.process.size(); ++row) {
    const std::int64_t open_ns = run.segments.open_ns[row];
    if (open_ns != runfile::kNoTime) openings[run.segments.process[row]].push_back(open_ns - epoch_ns);
  }
  for (auto& times : openings) std::sort(times.begin(), times.end());
  return openings;
}

class Matching {
 public:
  Matching(const CommTables& comms, const std::vector<bool>& has_lost_gpu_work, std::int64_t epoch_ns,
           const MatchingRoom& room, EventSink* sink, RunTables* run)
      : comms_(comms),
        epoch_ns_(epoch_ns),
        sink_(*sink),
        run_(*run),
        errors_(*run, epoch_ns),
        audit_(*run, errors_),
        order_(window_openings(*run, epoch_ns), room.scratch_folder, room.budget_bytes / 4),
        matcher_({run->comms.n_ranks, run->processes.node, find_time_windows(*run), has_lost_gpu_work, &errors_},
                 room.scratch_folder, room.budget_bytes) {}

  Status run(CallStore* store, const RunSources& sources, Diagnostics* diagnostics) {
    for (std::size_t process = 0; process < store->n_processes(); ++process) {
      auto calls = store->take(process);
      if (!calls) return tl::unexpected(std::move(calls.error()));
      if (auto added = add_process(static_cast<std::uint32_t>(process), std::move(*calls)); !added) return added;
    }
    fill_member_devices();
    const auto unmatched = matcher_.match_collectives([this](const auto& batch) { return take_instances(batch); });
    if (!unmatched) return tl::unexpected(unmatched.error());
    const auto transfers = matcher_.match_transfers([this](const auto& table) { return take_transfers(table); });
    if (!transfers) return tl::unexpected(transfers.error());
    const std::uint64_t row_count = run_.nccl_process_offset.back();
    auto status = matcher_.for_each_instance(row_count, [this](auto rows) { return sink_.append_instances(rows); });
    if (status) {
      status = matcher_.for_each_transfer(row_count, [this](auto rows) { return sink_.append_transfers(rows); });
    }
    if (!status) return status;
    auto deviations = order_.finish();
    if (!deviations) return tl::unexpected(std::move(deviations.error()));
    for (match::CallFinding& finding : *deviations) {
      if (finding.time_ns != runfile::kNoTime) finding.time_ns += epoch_ns_;
    }
    audit_.fill(&run_.clock_audit);
    counts_.diagnose(*unmatched, diagnostics);
    diagnose_transfers(*transfers, transfer_counts_, diagnostics);
    diagnose_call_order(*deviations, sources, run_, diagnostics);
    return {};
  }

 private:
  // Which member of a communicator makes a call.
  using Member = std::pair<std::uint32_t, std::int32_t>;  // communicator and rank

  Status add_process(std::uint32_t process, StoredCalls stored) {
    NcclTable& calls = stored.rows;
    const std::size_t count = calls.start_ns.size();
    std::vector<NumberedComm> comms;
    for (const std::uint64_t hash : stored.comm_hashes) {
      comms.push_back({comms_.index(hash), comms_.rank_count(hash), -1});
    }
    for (std::size_t row = 0; row < count; ++row) {
      if (calls.comm[row] != runfile::kNoIndex) number_comm(row, &comms[calls.comm[row]], &calls);
    }
    const match::ProcessRows own{process, 0, count, run_.nccl_process_offset[process]};
    auto added = match::for_each_record(calls, own, stored.calls_in_plan,
                                        [this](const match::CallRecord& call) { return matcher_.add(call); });
    if (!added) return added;
    counts_.add(calls);
    EventTables rows;
    rows.nccl = std::move(calls);
    return sink_.append(rows);
  }

  // A communicator of the process at hand.
  struct NumberedComm {
    std::uint32_t number = 0;        // the run's
    std::int32_t rank_count = -1;    // -1: not known
    std::int32_t known_member = -1;  // whose device is known
  };

  // From the process's number of the communicator to the run's, with what hangs on its size; and where its member's
  // device is.
  void number_comm(std::size_t row, NumberedComm* comm, NcclTable* calls) {
    calls->comm[row] = comm->number;
    const bool is_per_rank = calls->bytes[row] != runfile::kNoRow && match::is_size_per_rank(calls->coll[row]);
    if (is_per_rank && comm->rank_count > 0) {
      calls->size_bytes[row] = calls->bytes[row] * static_cast<std::uint64_t>(comm->rank_count);
    }
    const std::int32_t rank = calls->comm_rank[row];
    if (calls->device[row] < 0 || rank < 0 || rank == comm->known_member) return;
    comm->known_member = rank;
    member_devices_.try_emplace({comm->number, rank}, calls->device[row]);
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
    if (auto added = order_.add(batch); !added) return added;
    EventTables rows;
    rows.collectives = batch.collectives;
    for (const match::CallRecord& call : batch.calls) rows.collective_members.event_row.push_back(call.row);
    std::vector<std::uint64_t> ends;
    for (std::size_t i = 1; i < batch.first_member.size(); ++i) ends.push_back(n_members_ + batch.first_member[i]);
    n_members_ += batch.calls.size();
    return sink_.append(rows).and_then([&] { return sink_.append_member_ends(ends); });
  }

  Status take_transfers(const runfile::TransferTable& transfers) {
    transfer_counts_.take(transfers);
    EventTables rows;
    rows.transfers = transfers;
    return sink_.append(rows);
  }

  const CommTables& comms_;
  const std::int64_t epoch_ns_;
  EventSink& sink_;
  RunTables& run_;
  const match::ClockErrors errors_;
  ClockAudit audit_;
  match::CallOrder order_;
  match::InstanceMatcher matcher_;
  MatchingCounts counts_;
  TransferCounts transfer_counts_;
  std::map<Member, std::int32_t> member_devices_;
  std::uint64_t n_members_ = 0;
};

}  // namespace

Status match_calls(const RunSources& sources, CallStore* calls, const CommTables& comms,
                   const std::vector<bool>& has_lost_gpu_work, std::int64_t epoch_ns, const MatchingRoom& room,
                   EventSink* sink, RunTables* run, Diagnostics* diagnostics) {
  return Matching(comms, has_lost_gpu_work, epoch_ns, room, sink, run).run(calls, sources, diagnostics);
}

}  // namespace jaxprof::assembly

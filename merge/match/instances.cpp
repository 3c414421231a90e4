#include "merge/match/instances.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "merge/match/clock_errors.h"
#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

using runfile::RunTables;

// Communicator, sequence, operation, capture, replay. What was not captured comes before what was, and a capture before
// its replays.
struct InstanceKey {
  std::uint32_t comm;
  std::uint64_t sequence;
  runfile::Coll coll;
  std::uint64_t capture;  // kNoRow: none
  std::uint64_t replay;   // kNoRow: none
  auto order() const { return std::tuple(comm, sequence, coll, capture + 1, replay + 1); }
  bool operator<(const InstanceKey& other) const { return order() < other.order(); }
};

// Member order within an instance: communicator rank, and for unknown ranks the process.
struct Member {
  std::int64_t rank;
  std::uint32_t process;
  std::uint64_t row;
};

std::uint32_t process_of_row(const RunTables& run, std::uint64_t row) {
  const auto& offset = run.nccl_process_offset;
  return static_cast<std::uint32_t>(std::upper_bound(offset.begin(), offset.end(), row) - offset.begin() - 1);
}

// A window that opens by the clock opens in another replay on each rank; replays are then not numbered alike.
std::vector<bool> find_time_windows(const RunTables& run) {
  std::vector<bool> opened_by_time(run.processes.process.size());
  for (std::size_t row = 0; row < run.segments.process.size(); ++row) {
    if (run.segments.open_cause[row] == runfile::WindowCause::kDelay) opened_by_time[run.segments.process[row]] = true;
  }
  return opened_by_time;
}

// Calls of unknown rank have one number only if they were told to be of different members (call_numbers.h).
bool is_same_member(const Member& a, const Member& b) {
  return a.rank == b.rank && a.process == b.process && a.rank >= 0;
}

// The value that all members share who know it, `missing` if none does, or `otherwise`. A member that was seen by NVTX
// or by the plugin alone does not know all; that is no disagreement.
template <typename T>
T common(const std::vector<T>& column, const std::vector<Member>& members, T missing, T otherwise, bool* is_mismatch) {
  T shared = missing;
  for (const Member& member : members) {
    const T value = column[member.row];
    if (value == missing || value == shared) continue;
    if (shared != missing) {
      *is_mismatch = true;
      return otherwise;
    }
    shared = value;
  }
  return shared;
}

struct Span {
  const Member* first;
  const Member* last;
};

// The members with the least and the greatest time; nothing unless all have one.
std::optional<Span> span_of(const std::vector<std::int64_t>& time_ns, const std::vector<Member>& members) {
  Span span{&members.front(), &members.front()};
  for (const Member& member : members) {
    if (time_ns[member.row] < 0) return std::nullopt;
    if (time_ns[member.row] < time_ns[span.first->row]) span.first = &member;
    if (time_ns[member.row] >= time_ns[span.last->row]) span.last = &member;
  }
  return span;
}

void set_gpu_times(const runfile::NcclTable& nccl, const std::vector<Member>& members, std::size_t row,
                   runfile::CollectiveTable* table) {
  const auto span = span_of(nccl.gpu_start_ns, members);
  if (!span) return;
  table->first_start_ns[row] = nccl.gpu_start_ns[span->first->row];
  table->last_start_ns[row] = nccl.gpu_start_ns[span->last->row];
  table->last_arrival[row] = nccl.comm_rank[span->last->row];
  const auto end_ns = [&nccl](const Member& member) {
    return nccl.gpu_start_ns[member.row] + nccl.gpu_dur_ns[member.row];
  };
  const auto earlier = [&end_ns](const Member& a, const Member& b) { return end_ns(a) < end_ns(b); };
  const auto [first, last] = std::minmax_element(members.begin(), members.end(), earlier);
  table->first_end_ns[row] = end_ns(*first);
  table->last_end_ns[row] = end_ns(*last);
}

// A difference of less is what clocks may show of members that came at once.
constexpr double kSigmas = 3;

// Who came first and who last, against what the clocks of the members' nodes are worth. Returns flags.
std::uint16_t weigh_order(const ClockErrors& clocks, const std::vector<Member>& members, std::size_t row,
                          RunTables* run) {
  runfile::CollectiveTable& table = run->collectives;
  const bool has_gpu_times = table.last_start_ns[row] != runfile::kNoTime;
  const std::int64_t first_ns = has_gpu_times ? table.first_start_ns[row] : table.first_enqueue_ns[row];
  const std::int64_t last_ns = has_gpu_times ? table.last_start_ns[row] : table.last_enqueue_ns[row];
  std::vector<std::uint32_t> nodes;
  for (const Member& member : members) {
    const std::uint32_t node = run->processes.node[member.process];
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  }
  const SpreadError error = clocks.between(nodes, last_ns);
  table.clock_sigma_ns[row] = error.sigma_ns;
  table.clock_bound_ns[row] = error.bound_ns;
  if (nodes.size() < 2) return 0;
  if (!error.is_known()) return runfile::kInstanceUnresolved;
  if (last_ns == runfile::kNoTime) return 0;
  const auto spread_ns = static_cast<double>(last_ns - first_ns);
  if (spread_ns > error.bound_ns) return runfile::kInstanceCertain;
  // Without a sigma, only the bound can tell.
  const bool is_resolved = !std::isnan(error.sigma_ns) && spread_ns > kSigmas * error.sigma_ns;
  return is_resolved ? 0 : runfile::kInstanceUnresolved;
}

void add_instance(const InstanceKey& key, const std::vector<Member>& members,
                  const std::vector<std::uint64_t>& calls_in_plan, const ClockErrors& clocks, RunTables* run) {
  runfile::NcclTable& nccl = run->nccl;
  runfile::CollectiveTable& table = run->collectives;
  const std::size_t row = runfile::add_row(table);
  const auto [comm, sequence, coll, capture, replay] = key;
  bool is_mismatch = false;
  bool is_tuning_mixed = false;  // members may choose algorithm and protocol differently: no mismatch
  table.comm[row] = comm;
  table.seq[row] = sequence;
  table.coll[row] = coll;
  table.capture[row] = capture;
  table.replay[row] = replay;
  table.dtype[row] = common(nccl.dtype, members, runfile::Dtype::kMissing, runfile::Dtype::kUnknown, &is_mismatch);
  table.size_bytes[row] = common(nccl.size_bytes, members, runfile::kNoRow, runfile::kNoRow, &is_mismatch);
  common(nccl.redop, members, runfile::Redop::kMissing, runfile::Redop::kMissing, &is_mismatch);
  table.algo[row] = common(nccl.algo, members, runfile::Algo::kMissing, runfile::Algo::kUnknown, &is_tuning_mixed);
  table.proto[row] = common(nccl.proto, members, runfile::Proto::kMissing, runfile::Proto::kUnknown, &is_tuning_mixed);
  const std::uint32_t known = run->comms.n_ranks[comm];
  const auto seen = static_cast<std::uint32_t>(members.size());
  table.n_ranks[row] = known == runfile::kNoIndex ? seen : known;
  table.n_seen[row] = seen;

  if (const auto span = span_of(nccl.enqueue_ns, members); span) {
    table.first_enqueue_ns[row] = nccl.enqueue_ns[span->first->row];
    table.last_enqueue_ns[row] = nccl.enqueue_ns[span->last->row];
    table.last_member[row] = nccl.comm_rank[span->last->row];
  }
  set_gpu_times(nccl, members, row, &table);

  const bool is_grouped =
      std::any_of(members.begin(), members.end(), [&](const Member& member) { return calls_in_plan[member.row] > 1; });
  std::uint16_t flags = 0;
  if (seen < table.n_ranks[row]) flags |= runfile::kInstancePartial;
  if (is_grouped) flags |= runfile::kInstanceGrouped;
  if (is_mismatch) flags |= runfile::kInstanceMismatch;
  table.flags[row] = static_cast<std::uint16_t>(flags | weigh_order(clocks, members, row, run));

  for (const Member& member : members) {
    nccl.instance[member.row] = row;
    run->collective_members.event_row.push_back(member.row);
  }
  run->collective_member_offset.push_back(run->collective_members.event_row.size());
}

}  // namespace

UnmatchedCalls match_instances(const std::vector<std::uint64_t>& calls_in_plan,
                               const std::vector<bool>& has_lost_gpu_work, RunTables* run) {
  UnmatchedCalls unmatched;
  std::map<InstanceKey, std::vector<Member>> instances;
  const runfile::NcclTable& nccl = run->nccl;
  const std::size_t row_count = runfile::n_rows(nccl);
  const std::vector<bool> opened_by_time = find_time_windows(*run);
  for (std::uint64_t row = 0; row < row_count; ++row) {
    if (is_point_to_point(nccl.coll[row]) || nccl.parent[row] != runfile::kNoRow) continue;
    if (nccl.comm[row] == runfile::kNoIndex) {
      ++unmatched.without_communicator;
    } else if (nccl.seq[row] == runfile::kNoRow) {
      ++unmatched.without_sequence;
    } else if (nccl.replay[row] != runfile::kNoRow && opened_by_time[process_of_row(*run, row)]) {
      ++unmatched.unnumbered_replays;
    } else if (nccl.replay[row] != runfile::kNoRow && has_lost_gpu_work[process_of_row(*run, row)]) {
      ++unmatched.replays_after_losses;
    } else {
      instances[{nccl.comm[row], nccl.seq[row], nccl.coll[row], nccl.capture[row], nccl.replay[row]}].push_back(
          {nccl.comm_rank[row], process_of_row(*run, row), row});
    }
  }
  const ClockErrors clocks(*run);
  for (auto& [key, members] : instances) {
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return std::tie(a.rank, a.process) < std::tie(b.rank, b.process);
    });
    const auto end = std::unique(members.begin(), members.end(), is_same_member);
    unmatched.repeated += static_cast<std::uint64_t>(members.end() - end);
    members.erase(end, members.end());
    add_instance(key, members, calls_in_plan, clocks, run);
  }
  return unmatched;
}

}  // namespace jaxprof::match

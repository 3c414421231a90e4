#include "merge/match/instances.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "merge/match/nccl_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

using runfile::RunTables;

using InstanceKey = std::tuple<std::uint32_t, std::uint64_t, runfile::Coll>;

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

bool is_same_member(const Member& a, const Member& b) {
  return a.rank == b.rank && a.process == b.process;
}

// Whether the order of the members hangs on clocks of different nodes of which nobody knows how far they are apart.
bool is_order_unresolved(const RunTables& run, const std::vector<Member>& members) {
  if (!std::isnan(run.attributes.clock_bound_ns)) return false;
  const auto node = [&run](const Member& member) { return run.processes.node[member.process]; };
  return std::any_of(members.begin(), members.end(),
                     [&](const Member& member) { return node(member) != node(members.front()); });
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

void add_instance(const InstanceKey& key, const std::vector<Member>& members,
                  const std::vector<std::uint64_t>& calls_in_plan, RunTables* run) {
  runfile::NcclTable& nccl = run->nccl;
  runfile::CollectiveTable& table = run->collectives;
  const std::size_t row = runfile::add_row(table);
  const auto [comm, sequence, coll] = key;
  bool is_mismatch = false;
  bool is_tuning_mixed = false;  // members may choose algorithm and protocol differently: no mismatch
  table.comm[row] = comm;
  table.seq[row] = sequence;
  table.coll[row] = coll;
  table.dtype[row] = common(nccl.dtype, members, runfile::Dtype::kMissing, runfile::Dtype::kUnknown, &is_mismatch);
  table.size_bytes[row] = common(nccl.size_bytes, members, runfile::kNoRow, runfile::kNoRow, &is_mismatch);
  common(nccl.redop, members, runfile::Redop::kMissing, runfile::Redop::kMissing, &is_mismatch);
  table.algo[row] = common(nccl.algo, members, runfile::Algo::kMissing, runfile::Algo::kUnknown, &is_tuning_mixed);
  table.proto[row] = common(nccl.proto, members, runfile::Proto::kMissing, runfile::Proto::kUnknown, &is_tuning_mixed);
  const std::uint32_t known = run->comms.n_ranks[comm];
  const auto seen = static_cast<std::uint32_t>(members.size());
  table.n_ranks[row] = known == runfile::kNoIndex ? seen : known;
  table.n_seen[row] = seen;

  const auto earlier = [&nccl](const Member& a, const Member& b) {
    return nccl.enqueue_ns[a.row] < nccl.enqueue_ns[b.row];
  };
  const auto [first, last] = std::minmax_element(members.begin(), members.end(), earlier);
  table.first_enqueue_ns[row] = nccl.enqueue_ns[first->row];
  table.last_enqueue_ns[row] = nccl.enqueue_ns[last->row];
  table.last_member[row] = nccl.comm_rank[last->row];

  const bool is_grouped =
      std::any_of(members.begin(), members.end(), [&](const Member& member) { return calls_in_plan[member.row] > 1; });
  std::uint16_t flags = 0;
  if (seen < table.n_ranks[row]) flags |= runfile::kInstancePartial;
  if (is_grouped) flags |= runfile::kInstanceGrouped;
  if (is_mismatch) flags |= runfile::kInstanceMismatch;
  if (is_order_unresolved(*run, members)) flags |= runfile::kInstanceUnresolved;
  table.flags[row] = flags;

  for (const Member& member : members) {
    nccl.instance[member.row] = row;
    run->collective_members.event_row.push_back(member.row);
  }
  run->collective_member_offset.push_back(run->collective_members.event_row.size());
}

}  // namespace

UnmatchedCalls match_instances(const std::vector<std::uint64_t>& calls_in_plan, RunTables* run) {
  UnmatchedCalls unmatched;
  std::map<InstanceKey, std::vector<Member>> instances;
  const runfile::NcclTable& nccl = run->nccl;
  const std::size_t row_count = runfile::n_rows(nccl);
  for (std::uint64_t row = 0; row < row_count; ++row) {
    if (is_point_to_point(nccl.coll[row]) || nccl.parent[row] != runfile::kNoRow) continue;
    if (nccl.comm[row] == runfile::kNoIndex) {
      ++unmatched.without_communicator;
    } else if (nccl.seq[row] == runfile::kNoRow) {
      ++unmatched.without_sequence;
    } else {
      instances[{nccl.comm[row], nccl.seq[row], nccl.coll[row]}].push_back(
          {nccl.comm_rank[row], process_of_row(*run, row), row});
    }
  }
  for (auto& [key, members] : instances) {
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return std::tie(a.rank, a.process) < std::tie(b.rank, b.process);
    });
    const auto end = std::unique(members.begin(), members.end(), is_same_member);
    unmatched.repeated += static_cast<std::uint64_t>(members.end() - end);
    members.erase(end, members.end());
    add_instance(key, members, calls_in_plan, run);
  }
  return unmatched;
}

}  // namespace jaxprof::match

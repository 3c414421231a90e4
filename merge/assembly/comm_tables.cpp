#include "merge/assembly/comm_tables.h"

#include <algorithm>
#include <set>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {

using runfile::RunTables;

void CommTables::add(std::uint32_t process, const std::vector<match::ProcessComm>& memberships) {
  for (const match::ProcessComm& from : memberships) {
    Comm& comm = comms_[from.hash];
    comm.rank_count = std::max(comm.rank_count, from.rank_count);
    comm.node_count = std::max(comm.node_count, from.node_count);
    if (!from.name.empty()) comm.name = from.name;
    comm.members.push_back({process, from.rank, from.device});
  }
}

void CommTables::fill(const DeviceRows& devices, RunTables* run, Diagnostics* diagnostics) {
  std::vector<std::map<std::uint64_t, Comm>::iterator> order;
  for (auto comm = comms_.begin(); comm != comms_.end(); ++comm) {
    std::stable_sort(comm->second.members.begin(), comm->second.members.end(),
                     [](const Member& a, const Member& b) { return a.rank < b.rank; });
    order.push_back(comm);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a->second.rank_count > b->second.rank_count; });
  for (const auto& comm : order) fill_comm(comm->first, comm->second, devices, run, diagnostics);
}

void CommTables::fill_comm(std::uint64_t hash, const Comm& comm, const DeviceRows& devices, RunTables* run,
                           Diagnostics* diagnostics) {
  const std::size_t row = runfile::add_row(run->comms);
  index_[hash] = static_cast<std::uint32_t>(row);
  run->comms.comm[row] = static_cast<std::uint32_t>(row);
  run->comms.hash[row] = hash;
  run->comms.name[row] = run->strings.intern(comm.name);
  if (comm.rank_count >= 0) {
    run->comms.n_ranks[row] = static_cast<std::uint32_t>(comm.rank_count);
  } else {
    diagnostics->add(runfile::Severity::kWarning, "comm.size-unknown", {}, 1,
                     "communicator " + std::to_string(row) + " (" + counted(comm.members.size(), "member") +
                         " seen): nothing told its size, so a missing member would go unnoticed");
  }
  if (comm.node_count >= 0) {
    run->comms.n_nodes[row] = static_cast<std::uint32_t>(comm.node_count);
  } else {
    std::set<std::uint32_t> nodes;
    for (const Member& member : comm.members) nodes.insert(run->processes.node[member.process]);
    const bool is_whole = comm.rank_count == static_cast<std::int32_t>(comm.members.size());
    if (is_whole) run->comms.n_nodes[row] = static_cast<std::uint32_t>(nodes.size());
  }
  for (const Member& member : comm.members) {
    const std::size_t member_row = runfile::add_row(run->comm_members);
    run->comm_members.member_process[member_row] = member.process;
    run->comm_members.member_comm_rank[member_row] = member.rank;
    run->comm_members.member_device[member_row] = devices.row(member.process, member.ordinal);
  }
  run->comm_member_offset.push_back(runfile::n_rows(run->comm_members));
}

}  // namespace jaxprof::assembly

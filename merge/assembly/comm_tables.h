// Communicators of a run. Each process knows its own memberships; put together they are the communicators, with the
// members that were seen. Rows are numbered alike in every merge of a run: the largest communicator first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "merge/assembly/device_rows.h"
#include "merge/assembly/diagnostics.h"
#include "merge/match/comm_members.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class CommTables {
 public:
  // The memberships of process `process`, an index of /job/processes.
  void add(std::uint32_t process, const std::vector<match::ProcessComm>& memberships);

  // Writes /comms with their members, once all processes are added; run->processes and `devices` are filled.
  void fill(const DeviceRows& devices, runfile::RunTables* run, Diagnostics* diagnostics);

  // After fill(): the row of /comms. `hash` is one that a process named.
  std::uint32_t index(std::uint64_t hash) const { return index_.at(hash); }
  // -1: nothing told it.
  std::int32_t rank_count(std::uint64_t hash) const { return comms_.at(hash).rank_count; }

 private:
  struct Member {
    std::uint32_t process;
    std::int32_t rank;
    std::int32_t ordinal;
  };
  struct Comm {
    std::int32_t rank_count = -1;
    std::int32_t node_count = -1;
    std::string name;
    std::vector<Member> members;
  };

  void fill_comm(std::uint64_t hash, const Comm& comm, const DeviceRows& devices, runfile::RunTables* run,
                 Diagnostics* diagnostics);

  std::map<std::uint64_t, Comm> comms_;           // by hash
  std::map<std::uint64_t, std::uint32_t> index_;  // by hash
};

}  // namespace jaxprof::assembly

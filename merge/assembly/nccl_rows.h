// Fills /events/nccl and /nccl_work: a row a call, and a row for each replay of a captured one that was seen; with the
// times of the GPU work that carried it out, and how that is known.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "merge/assembly/comm_tables.h"
#include "merge/assembly/device_rows.h"
#include "merge/assembly/gpu_rows.h"
#include "merge/assembly/run_sources.h"
#include "merge/match/kernel_join.h"
#include "merge/match/nccl_calls.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

class NcclRows {
 public:
  // All are borrowed, and filled.
  NcclRows(const CommTables& comms, const DeviceRows& devices, runfile::RunTables* run)
      : comms_(comms), devices_(devices), run_(run) {}

  // The calls of process `index`, whose GPU work is in the run's tables from `base` on. Processes in their order.
  void add(std::uint32_t index, const SourceProcess& process, const match::NcclCalls& nccl, const match::NcclJoin& join,
           const GpuBase& base);

  // For each row of /events/nccl: how many calls shared its kernel; 0: unknown.
  const std::vector<std::uint64_t>& calls_in_plan() const { return calls_in_plan_; }

  // Once all processes are in: members of communicators whose GPU only their kernels tell.
  void fill_member_devices();

 private:
  void set_call(const match::NcclCall& call, std::size_t row, runfile::NcclTable* to);
  void set_work(const std::vector<match::NcclWork>& work, const GpuBase& base, std::size_t row,
                runfile::NcclTable* to) const;
  // The rank of the process's only member of `comm` on `device`; -1 if there is none, or more than one.
  std::int32_t rank_on(std::uint32_t process, std::uint32_t comm, std::int32_t device) const;
  void set_launch(const match::NcclWork& work, const GpuBase& base, std::size_t row, runfile::NcclTable* to) const;
  void add_pairs(const match::NcclJoin& join, const std::vector<std::uint64_t>& row_of, const GpuBase& base);

  const CommTables& comms_;
  const DeviceRows& devices_;
  runfile::RunTables* run_;
  std::vector<std::uint64_t> calls_in_plan_;
};

}  // namespace jaxprof::assembly

// What a synthetic run is to be: how many processes on how many nodes, how many events of which kind, which faults. The
// same plan gives the same run, byte for byte, however many threads write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "tests/synthetic/fault.h"
#include "tests/synthetic/training_plan.h"

namespace jaxprof::synthetic {

// What tells of NCCL's calls: its NVTX ranges, its profiler plugin, or both.
enum class NcclBy { kBoth, kPlugin, kNvtx };

struct RunPlan {
  std::uint32_t processes = 4;
  std::uint32_t ranks_per_node = 8;
  // Of the whole run; each process has its share, rounded down.
  std::uint64_t kernels = 0;  // the program's own; NCCL's come on top
  std::uint64_t calls = 0;    // of NCCL
  std::uint64_t ranges = 0;   // NVTX ranges of the program, its steps among them; NCCL's come on top
  NcclBy nccl_by = NcclBy::kBoth;
  bool has_api = false;      // the CUDA call of each kernel
  bool has_clocks = false;   // nodes whose clocks differ, and what their observers measured of them
  std::uint32_t steps = 10;  // at most as many as a process has ranges
  std::uint64_t seed = 1;
  std::vector<Fault> faults;
  // A training job instead, whose size its steps tell: no kernels, calls and ranges of the above.
  std::optional<TrainingPlan> training;
  bool has_counters = false;  // of ports and GPUs, of a training job
  std::int64_t counter_period_ns = 100'000'000;
  // What probes between nodes take at least, one way, and how much longer those to a node take than those from it.
  std::int64_t probe_way_ns = 5'000;
  std::uint32_t crooked_node = 0;
  std::int64_t crooked_ns = 0;

  bool has_observers() const { return has_clocks || has_counters; }
  bool has_plugin() const { return nccl_by != NcclBy::kNvtx; }
  bool has_nccl_ranges() const { return nccl_by != NcclBy::kPlugin; }
  std::uint32_t node_count() const { return (processes + ranks_per_node - 1) / ranks_per_node; }
  std::uint32_t node_of(std::uint32_t rank) const { return rank / ranks_per_node; }
  std::uint64_t kernels_of_rank() const { return kernels / processes; }
  std::uint64_t calls_of_rank() const { return calls / processes; }
  std::uint64_t ranges_of_rank() const { return ranges / processes; }
};

// kUsage with the cause where no run can be so.
Status check(const RunPlan& plan);

}  // namespace jaxprof::synthetic

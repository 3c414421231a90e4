// A training job in place of a run of any size: some ranks, steps of some kernels and collectives each, in which every
// rank goes on when its collective has ended, and what slows it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/contract/rank_selection.h"
#include "tests/synthetic/slowdown.h"

namespace jaxprof::synthetic {

inline constexpr std::uint32_t kPortsOfNode = 2;  // to the network

// What a step calls.
enum class TrainingComms : std::uint8_t {
  kWorld,  // AllReduce of all ranks only
  kMixed,  // AllGather and ReduceScatter within nodes, then AllReduce of all ranks
  kSub,    // the same within nodes, then AllReduce of the ranks that have one place on their nodes; no world
};

struct TrainingPlan {
  std::int64_t step_ns = 20'000'000;  // of kernels, of a rank in a step
  std::int64_t jitter_ns = 20'000;    // within this members come to a unit, but for their kernels and what slows them
  TrainingComms comms = TrainingComms::kWorld;
  std::vector<Slowdown> slowdowns;
  std::string ranks = {};  // that are recorded, as `jaxprof-exec --ranks` takes them; "": all
  bool is_traced(std::uint32_t rank) const { return ranks.empty() || number_list_contains(ranks.c_str(), rank); }
};

}  // namespace jaxprof::synthetic

// The communicators of a synthetic job: one of all ranks, one for the ranks of each node, one for each two neighbours,
// and in a training job one for the ranks that have one place on their nodes. Their members are ranks at equal
// distances, so that none of them needs a list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/synthetic/run_plan.h"

namespace jaxprof::synthetic {

enum class CommKind : std::uint8_t { kWorld, kNode, kPair, kRail };
inline constexpr std::size_t kCommKindCount = 4;
// Those of a run that is no training.
inline constexpr CommKind kCommKinds[] = {CommKind::kWorld, CommKind::kNode, CommKind::kPair};

struct Comm {
  CommKind kind = CommKind::kWorld;
  std::uint32_t first = 0;   // rank of its member 0
  std::uint32_t size = 0;    // less than 2: there is none
  std::uint64_t hash = 0;    // NCCL's id
  std::uint32_t stride = 1;  // from the rank of a member to that of the next one
  bool exists() const { return size >= 2; }
  std::uint32_t member(std::uint32_t comm_rank) const { return first + comm_rank * stride; }
  std::uint32_t rank_of(std::uint32_t member) const { return (member - first) / stride; }
};

// That of a kind which `rank` is a member of.
Comm comm_of(const RunPlan& plan, CommKind kind, std::uint32_t rank);

// Number of a kind's communicator in each process that has it, from 1.
constexpr std::uint32_t number_of(CommKind kind) {
  return static_cast<std::uint32_t>(kind) + 1;
}
const char* name_of(CommKind kind);

}  // namespace jaxprof::synthetic

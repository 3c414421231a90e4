// The communicators of a synthetic job: one of all ranks, one for the ranks of each node, and one for each two
// neighbours. Their members are consecutive ranks, so that none of them needs a list.
#pragma once

#include <cstdint>

#include "tests/synthetic/run_plan.h"

namespace jaxprof::synthetic {

enum class CommKind : std::uint8_t { kWorld, kNode, kPair };
inline constexpr CommKind kCommKinds[] = {CommKind::kWorld, CommKind::kNode, CommKind::kPair};

struct Comm {
  CommKind kind = CommKind::kWorld;
  std::uint32_t first = 0;  // rank of its member 0
  std::uint32_t size = 0;   // less than 2: there is none
  std::uint64_t hash = 0;   // NCCL's id
  bool exists() const { return size >= 2; }
  bool has(std::uint32_t rank) const { return rank >= first && rank < first + size; }
};

// That of a kind which `rank` is a member of.
Comm comm_of(const RunPlan& plan, CommKind kind, std::uint32_t rank);

// Number of a kind's communicator in each process that has it, from 1.
constexpr std::uint32_t number_of(CommKind kind) {
  return static_cast<std::uint32_t>(kind) + 1;
}
const char* name_of(CommKind kind);

}  // namespace jaxprof::synthetic

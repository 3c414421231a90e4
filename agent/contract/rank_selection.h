// Which ranks are traced: `--ranks 0,8-15,0-1023:128`, `--local-ranks`, `--nodes`, `--sample-ranks N` and `--if`, all
// of which must hold. The wrapper decides alone when its command is the rank; behind torchrun or mpirun it knows only
// its node, so the ranks are decided by each process for itself. The selection therefore stays text, which both read.
// Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof {

// As given on the command line; "" selects all. Plain data: it lies in the session page.
struct RankSelection {
  char ranks[2048] = {};
  char local_ranks[512] = {};
  char nodes[2048] = {};
  char condition[1024] = {};
  std::uint32_t sample_ranks = 0;  // 0: no sampling

  bool selects_all() const noexcept {
    return ranks[0] == '\0' && local_ranks[0] == '\0' && nodes[0] == '\0' && condition[0] == '\0' && sample_ranks == 0;
  }
};

enum class Selected {
  kYes,
  kNo,
  kUnknown,  // it depends on a number that is not known here; `unknown` says on which
};

struct SelectionResult {
  Selected selected = Selected::kYes;
  char unknown[112] = {};  // e.g. "local rank, which is not known here"; "" unless kUnknown
};

// "8", "0-15", "0-1023:128", joined by commas. False: not such a list; `*fault_offset` says where.
bool check_number_list(const char* list, std::size_t* fault_offset) noexcept;
bool number_list_contains(const char* list, std::uint64_t number) noexcept;
// The largest number that such a list names, which is not always the end of a range: "0-9:4" names 8.
std::uint64_t largest_in_number_list(const char* list) noexcept;

// True if `rank` is one of `count` ranks spread evenly over `world_size`, rank 0 first.
bool is_sampled_rank(std::int32_t rank, std::int32_t world_size, std::uint32_t count) noexcept;

// Decides for `rank`. A known part that says no wins over an unknown one.
SelectionResult is_selected(const RankSelection& selection, const RankIdentity& rank, const Env& env) noexcept;

// What a wrapper can decide for its whole task when the command starts ranks of its own: by node and condition alone.
// kUnknown: each process decides.
SelectionResult is_task_selected(const RankSelection& selection, const RankIdentity& task, const Env& env) noexcept;

}  // namespace jaxprof

// The boards of the node and their facts, as jaxprof-probe tells them before the first sample: every board that may be
// used, and of a partitioned one its instances, whose identities are what processes know. Agent-safe; one thread.
#pragma once

#include <cstdint>

#include "netsampler/gpu/board_reader.h"
#include "netsampler/gpu/nvml_abi.h"

namespace jaxprof::netsampler {

inline constexpr std::size_t kMaxBoards = 64;

struct BoardList {
  BoardReader boards[kMaxBoards];
  std::size_t count = 0;
  std::uint32_t numbers_used = 0;  // by boards and instances
  bool is_written = true;          // false: nobody reads any more
};

// Finds the boards, writes a record for each, and a note about those that cannot be used. Attaches to each board, which
// takes seconds where nothing else uses it.
void list_boards(const nvml::Functions& nvml, BoardList* list) noexcept;

}  // namespace jaxprof::netsampler

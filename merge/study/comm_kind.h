// Over what a communicator's members talk, as far as its size and nodes tell: NCCL Inspector's classes.
#pragma once

#include <cstdint>
#include <string_view>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study {

enum class CommKind : std::uint8_t {
  kSingle,   // one rank
  kOneNode,  // all ranks on one node: NVLink, PCIe, shared memory
  kRails,    // one rank a node: network only
  kMixed,    // several nodes, with several ranks on some
  kUnknown,  // its size or its nodes are not known
};

std::string_view word(CommKind kind);  // "one rank", "one node", "one rank a node", "mixed", "unknown"

CommKind kind_of_comm(const runfile::CommTable& comms, std::uint32_t comm);

}  // namespace jaxprof::study

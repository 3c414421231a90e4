#include "merge/study/comm_kind.h"

#include <array>

namespace jaxprof::study {

using namespace jaxprof::runfile;

std::string_view word(CommKind kind) {
  constexpr std::array<std::string_view, 5> kWords = {"one rank", "one node", "one rank a node", "mixed", "unknown"};
  return kWords[static_cast<std::size_t>(kind)];
}

CommKind kind_of_comm(const CommTable& comms, std::uint32_t comm) {
  if (comm >= comms.n_ranks.size() || comms.n_ranks[comm] == kNoIndex) return CommKind::kUnknown;
  if (comms.n_ranks[comm] == 1) return CommKind::kSingle;
  if (comms.n_nodes[comm] == kNoIndex || comms.n_nodes[comm] == 0) return CommKind::kUnknown;
  if (comms.n_nodes[comm] == 1) return CommKind::kOneNode;
  return comms.n_nodes[comm] == comms.n_ranks[comm] ? CommKind::kRails : CommKind::kMixed;
}

}  // namespace jaxprof::study

// Who is at fault: a GPU, a rank whose host or whose several GPUs are slow, or a whole node. A slow node looks like as
// many slow ranks as it has, of which each has only a part of the fault.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "merge/study/straggler_cause.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {

enum class Level : std::uint8_t { kNone, kMember, kGpu, kRank, kNode, kNic, kNetwork };
std::string_view word(Level level);  // "", "member", "gpu", "rank", "node", "nic", "network"

// So much of a node's (or process's) GPUs must stand out for it to be the node.
inline constexpr double kMostOfNode = 0.75;

struct Culprit {
  Level level = Level::kNone;
  std::vector<std::uint32_t> lanes;  // that are at fault
  std::int64_t fault_ns = 0;
  CauseSplit split;  // of all of them
  NamedCause cause;
};

// `fault_ns` and `excess` by lane, over the same steps. Nobody where there is no fault.
Culprit find_culprit(const Subjects& lanes, std::span<const std::int64_t> fault_ns, std::span<const CauseSplit> excess);

}  // namespace jaxprof::study

// Where the clocks of a link's two nodes jumped against each other between two bursts: the intervals before and behind
// do not fit together, whatever the clocks' rates were just before and just after. That is proof, not likelihood; a
// change of rate alone is no jump, and a single burst that fits neither of its neighbours, which fit each other, is a
// bad burst and no jump either.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/clock/probe_link.h"

namespace jaxprof::clock {

struct LinkJump {
  std::uint32_t before = 0;  // the last burst before it and the first behind it
  std::uint32_t after = 0;
  double size_ns = 0;         // of b's clock less a's
  double slack_ns = 0;        // by how much the size may be wrong
  bool is_confirmed = false;  // by two bursts on each side
};

struct LinkJumps {
  std::vector<LinkJump> jumps;
  std::vector<std::uint32_t> bad_bursts;
};

// A node's clock source was seen to change then, by its own clock: what is before says nothing of what is behind.
struct SourceChange {
  std::uint32_t node = 0;
  std::int64_t raw_ns = 0;
};

// Of a link that has been put in order; bursts whose packets cannot fit together at the link's rate are bad as well.
LinkJumps find_jumps(const ProbeLink& link, std::span<const SourceChange> changes);

}  // namespace jaxprof::clock

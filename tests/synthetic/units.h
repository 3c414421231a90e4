// What a job calls of NCCL, one unit after the other: a collective, a group of four that become one kernel, or a send
// and a receive in a group. All ranks make the same units in the same order; a rank that is not in a unit's kind of
// communicator leaves it out. Sizes are mixed as those of training are: many small ones, some of hundreds of megabytes.
#pragma once

#include <cstdint>

#include "agent/spool/event_record.h"
#include "tests/simulator/sim_random.h"
#include "tests/synthetic/communicators.h"

namespace jaxprof::synthetic {

enum class UnitShape : std::uint8_t { kSingle, kGroup, kExchange };
inline constexpr std::uint32_t kGroupCalls = 4;

struct Unit {
  UnitShape shape = UnitShape::kSingle;
  CommKind comm = CommKind::kWorld;
  spool::NcclFunction function = spool::NcclFunction::kAllReduce;  // kSend stands for a send and a receive
  std::uint64_t bytes = 0;  // a rank's argument; of a group's first call, the others have half of the one before
  std::uint32_t call_count() const {
    return shape == UnitShape::kSingle ? 1 : shape == UnitShape::kGroup ? kGroupCalls : 2;
  }
  // How long it takes once all are there, ns.
  std::int64_t transfer_ns() const;
};

class UnitSequence {
 public:
  explicit UnitSequence(const RunPlan& plan);
  // False when a rank has its share of calls.
  bool next(Unit* unit);

 private:
  Unit draw();

  test::SimRandom random_;
  bool has_nodes_;
  bool has_pairs_;
  std::uint64_t calls_left_;
};

}  // namespace jaxprof::synthetic

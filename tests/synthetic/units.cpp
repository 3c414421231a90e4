#include "tests/synthetic/units.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

constexpr std::int64_t kLatencyNs = 9'000;
constexpr std::int64_t kLongestNs = 3'000'000;
constexpr std::uint64_t kBytesANs = 150;

}  // namespace

std::int64_t Unit::transfer_ns() const {
  return kLatencyNs + std::min(kLongestNs, static_cast<std::int64_t>(bytes / kBytesANs));
}

UnitSequence::UnitSequence(const RunPlan& plan)
    : random_(test::mix(plan.seed, 0x0ca11)),
      has_nodes_(comm_of(plan, CommKind::kNode, 0).exists()),
      has_pairs_(comm_of(plan, CommKind::kPair, 0).exists()),
      calls_left_(plan.calls_of_rank()) {}

Unit UnitSequence::draw() {
  using spool::NcclFunction;
  const double which = random_.uniform();
  const double size = random_.uniform();
  Unit unit;
  // From 4 KiB to 256 MiB, the small ones most; with an odd part, as parameters have.
  const auto doublings = static_cast<unsigned>(size * size * 17);
  unit.bytes = ((std::uint64_t{4096} << doublings) - 64 * (random_.next() % 32)) & ~std::uint64_t{63};
  const CommKind inner = has_nodes_ ? CommKind::kNode : CommKind::kWorld;
  if (which < 0.40) return unit;
  if (which < 0.55) {
    unit.comm = inner;
    unit.function = NcclFunction::kReduceScatter;
  } else if (which < 0.70) {
    unit.comm = inner;
    unit.function = NcclFunction::kAllGather;
  } else if (which < 0.73) {
    unit.function = NcclFunction::kBroadcast;
  } else if (which < 0.78) {
    unit.shape = UnitShape::kGroup;
  } else if (has_pairs_) {
    unit.comm = CommKind::kPair;
    if (which >= 0.85) {
      unit.shape = UnitShape::kExchange;
      unit.function = NcclFunction::kSend;
    }
  }
  return unit;
}

bool UnitSequence::next(Unit* unit) {
  if (calls_left_ == 0) return false;
  *unit = draw();
  if (unit->call_count() > calls_left_) {  // the last ones: one by one
    unit->shape = UnitShape::kSingle;
    unit->function = spool::NcclFunction::kAllReduce;
    unit->comm = CommKind::kWorld;
  }
  calls_left_ -= unit->call_count();
  return true;
}

}  // namespace jaxprof::synthetic

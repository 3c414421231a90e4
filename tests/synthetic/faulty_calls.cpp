#include "tests/synthetic/faulty_calls.h"

#include <optional>
#include <utility>
#include <vector>

namespace jaxprof::synthetic {
namespace {

struct PlacedUnit {
  std::uint64_t index;
  Unit unit;
};

bool is_same_kind(const Unit& a, const Unit& b) {
  return a.comm == b.comm && a.function == b.function;
}

// The single collectives from the middle of the run on, of communicators that the rank is in.
std::vector<PlacedUnit> candidates(const RunPlan& plan, const TimelineSize& size, std::uint32_t rank) {
  std::vector<PlacedUnit> found;
  UnitSequence units(plan);
  std::uint64_t index = 0;
  for (Unit unit; units.next(&unit); ++index) {
    const bool is_usable = unit.shape == UnitShape::kSingle && comm_of(plan, unit.comm, rank).exists();
    if (is_usable && index >= size.units / 2) found.push_back({index, unit});
  }
  return found;
}

CallChange call_like(const Unit& unit) {
  return {false, false, unit.function, unit.bytes};
}

// A call, and the next one on its communicator, if they are as asked for.
std::optional<std::pair<PlacedUnit, PlacedUnit>> find_two(const std::vector<PlacedUnit>& units, bool is_one_function) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    for (std::size_t j = i + 1; j < units.size(); ++j) {
      const Unit& a = units[i].unit;
      const Unit& b = units[j].unit;
      if (is_one_function ? !is_same_kind(a, b) : a.comm != b.comm) continue;
      const bool is_fit = is_one_function ? a.bytes != b.bytes : a.function != b.function;
      if (is_fit) return std::pair(units[i], units[j]);
      break;
    }
  }
  return std::nullopt;
}

// Groups are of this kind, and number their calls as well.
bool is_of_groups(const Unit& unit) {
  return unit.comm == CommKind::kWorld && unit.function == spool::NcclFunction::kAllReduce;
}

// Each call of one kind becomes the next one, and the last is left out.
CallChanges skip_one(const std::vector<PlacedUnit>& units) {
  CallChanges changes;
  const PlacedUnit* before = nullptr;
  for (const PlacedUnit& placed : units) {
    if (is_of_groups(placed.unit)) continue;
    if (before != nullptr && !is_same_kind(placed.unit, before->unit)) continue;
    if (before != nullptr) changes[before->index] = call_like(placed.unit);
    before = &placed;
  }
  if (before != nullptr) changes[before->index] = CallChange{.is_omitted = true};
  return changes;
}

}  // namespace

Result<CallChanges> changes_of(const RunPlan& plan, const TimelineSize& size, const Fault& fault) {
  CallChanges changes;
  const bool is_about_calls = fault.kind == FaultKind::kSwap || fault.kind == FaultKind::kReorder ||
                              fault.kind == FaultKind::kSkip || fault.kind == FaultKind::kLose;
  if (!is_about_calls) return changes;
  const auto none = [&fault] {
    return fail(ErrorCode::kUsage, "the run has no calls for the fault of rank " + std::to_string(fault.rank) +
                                       ": ask for more with --nccl");
  };
  const std::vector<PlacedUnit> units = candidates(plan, size, fault.rank);
  if (units.size() < 2) return none();
  if (fault.kind == FaultKind::kSkip) {
    changes = skip_one(units);
    return changes.empty() ? none() : Result<CallChanges>(std::move(changes));
  }
  if (fault.kind == FaultKind::kLose) {
    changes[units.front().index] = CallChange{.is_unrecorded = true};
    return changes;
  }
  const auto two = find_two(units, fault.kind == FaultKind::kSwap);
  if (!two) return none();
  changes[two->first.index] = call_like(two->second.unit);
  changes[two->second.index] = call_like(two->first.unit);
  return changes;
}

}  // namespace jaxprof::synthetic

// Slices of one track must lie inside or beside each other, or a viewer closes the wrong one. What overlaps gets a
// further track of the same name. Two kinds: GPU work is never inside other work, so that what only overlaps lies on
// another track even if it fits; ranges of a thread may.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/export/trace.h"

namespace jaxprof::exporting {

enum class Overlap : std::uint8_t { kNever, kInside };

// One thread; `trace` outlives it. Tracks are made as they are needed.
class Lanes {
 public:
  Lanes(Trace& trace, TrackPlan plan, Overlap overlap) : trace_(&trace), plan_(std::move(plan)), overlap_(overlap) {}

  // In order of their start; of equal starts the longest first, or it lies on a track of its own.
  void add(const Slice& slice);
  // An instant on the first track, in the same order.
  void mark(const Slice& mark);
  // Closes what is open. Nothing is added afterwards.
  void finish();

 private:
  struct Lane {
    std::uint64_t track = 0;
    std::vector<std::int64_t> ends_ns;  // of open slices, the innermost last
  };
  void close_until(Lane& lane, std::int64_t t_ns);
  bool has_room(const Lane& lane, std::int64_t end_ns) const;
  Lane& add_lane();

  Trace* trace_;
  TrackPlan plan_;
  Overlap overlap_;
  std::vector<Lane> lanes_;
};

}  // namespace jaxprof::exporting

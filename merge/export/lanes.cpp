// The first track on which there is room: a track's events are then in order of time, ends before begins.
#include "merge/export/lanes.h"

#include <fmt/format.h>

#include <limits>

namespace jaxprof::exporting {

void Lanes::close_until(Lane& lane, std::int64_t t_ns) {
  while (!lane.ends_ns.empty() && lane.ends_ns.back() <= t_ns) {
    trace_->end(lane.track, lane.ends_ns.back());
    lane.ends_ns.pop_back();
  }
}

bool Lanes::has_room(const Lane& lane, std::int64_t end_ns) const {
  return lane.ends_ns.empty() || (overlap_ == Overlap::kInside && end_ns <= lane.ends_ns.back());
}

Lanes::Lane& Lanes::add_lane() {
  TrackPlan plan = plan_;
  if (!lanes_.empty()) plan.name += fmt::format(" ({})", lanes_.size() + 1);
  return lanes_.emplace_back(Lane{trace_->add_track(plan), {}});
}

void Lanes::add(const Slice& slice) {
  Lane* chosen = nullptr;
  for (Lane& lane : lanes_) {
    close_until(lane, slice.start_ns);
    if (!has_room(lane, slice.end_ns)) continue;
    chosen = &lane;
    break;
  }
  if (chosen == nullptr) chosen = &add_lane();
  trace_->begin(chosen->track, slice);
  chosen->ends_ns.push_back(slice.end_ns);
}

void Lanes::mark(const Slice& mark) {
  Lane& lane = lanes_.empty() ? add_lane() : lanes_.front();
  close_until(lane, mark.start_ns);
  trace_->instant(lane.track, mark);
}

void Lanes::finish() {
  for (Lane& lane : lanes_) close_until(lane, std::numeric_limits<std::int64_t>::max());
}

}  // namespace jaxprof::exporting

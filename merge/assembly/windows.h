// When the window of a process was open: its segments on the run's axis, from the openings and closings that it
// registered. A closing without an opening (its record was lost) is a segment that has only that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/spool/state_record.h"
#include "merge/clock/axis_clock.h"
#include "merge/rundir/spool_trace.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::assembly {

struct Segment {
  std::uint32_t number = 0;
  // Null causes: not told. Times: CLOCK_REALTIME, ns; -1 where not told.
  std::int64_t open_ns = -1;
  std::int64_t close_ns = -1;
  std::uint32_t open_cause = 0;  // spool::WindowCause; 0: not told
  std::uint32_t close_cause = 0;
  std::uint64_t open_step = 0;  // 1 + the step's number; 0: none
  std::uint64_t close_step = 0;
  std::optional<std::int64_t>
      first_step;  // at which it opened: the one that opened it, else the first that began in it
};

// By number.
std::vector<Segment> segments_of(const rundir::SpoolTrace& trace, const clock::AxisClock& clock);

// Fills first_step; `steps` are the process's, in the order of their starts, on the segments' axis.
void find_first_steps(const runfile::StepTable& steps, std::vector<Segment>* segments);

// Does [start, end] touch one of them? True also where there are none: older spools do not tell.
bool is_in_window(const std::vector<Segment>& segments, std::int64_t start_ns, std::int64_t end_ns);

}  // namespace jaxprof::assembly

// All that one run left, opened and put in order: task records and spools, nodes by boot id, and a clock for each group
// of processes that share a counter. The tables are filled from this.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "merge/assembly/run_clocks.h"
#include "merge/clock/axis_clock.h"
#include "merge/clock/node_clock.h"
#include "merge/rundir/node_trace.h"
#include "merge/rundir/run_directory.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof::assembly {

struct SourceNode {
  std::string boot_id;
  std::string host;
};

struct SourceProcess {
  rundir::SpoolTrace trace;  // only its summary, but while its events are read
  std::uint32_t node = 0;
  std::int64_t task = -1;  // position in RunSources::tasks; -1: no record
  std::int32_t rank = -1;
  const clock::AxisClock* clock = nullptr;  // null: no anchors, so no times
};

// What one observer of a node left.
struct SourceObserver {
  rundir::NodeTrace trace;
  std::uint32_t node = 0;
  clock::NodeClock clock;  // not valid: no anchors, so no times
};

// Two files that hold the same spool, of which one is left out.
struct DuplicateSpool {
  std::string kept;           // path
  std::string left_out;       // path
  bool is_identical = false;  // byte for byte
};

// A spool of another run among this run's.
struct ForeignSpool {
  std::string path;
  std::string run_id;
  std::int64_t rank = -1;
  std::string host;
  std::int64_t attach_ns = 0;  // CLOCK_REALTIME
};

struct RunSources {
  std::string directory;
  std::string run_id;
  std::vector<rundir::FoundTask> tasks;
  std::vector<SourceProcess> processes;   // by rank (unknown last), attach time, pid
  std::vector<SourceObserver> observers;  // by node and first anchor
  std::vector<SourceNode> nodes;          // by their first rank
  std::vector<rundir::UnreadableFile> unreadable;
  std::vector<DuplicateSpool> duplicates;
  std::vector<ForeignSpool> foreign;
  rundir::VariablePool variables;  // of the tasks' commands
  bool is_to_be_redacted = false;
  // Processes that share a counter: node, clock and, for clocks that a container may shift, time namespace.
  using ClockKey = std::tuple<std::string, std::int64_t, std::int64_t>;
  std::map<ClockKey, clock::AxisClock> clocks;
  RunClocks run_clocks;

  std::uint32_t node_of(const std::string& boot_id, const std::string& host) const;
  std::uint32_t node_of_clock(const ClockKey& key) const;
  // Where on the axis a node was when its wall clock read that; exact where the axis is its wall clock, else as good as
  // one difference between the two can be for the whole run. For what is told in seconds. -1: no clock shows `wall_ns`.
  std::int64_t axis_of_wall(std::uint32_t node, std::int64_t wall_ns) const;
};

// Opens everything; files that cannot be read are listed, and are no failure.
RunSources open_sources(rundir::FoundRun run);

}  // namespace jaxprof::assembly

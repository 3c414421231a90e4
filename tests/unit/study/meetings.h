// Runs of collectives whose members come and go at known times, for tests of what ranks wait for each other.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

// One instance of a communicator. Times are by member, in order of communicator rank; -1: that member is not there.
struct Meeting {
  std::uint32_t comm = 0;
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> end_ns;
  runfile::Coll coll = runfile::Coll::kAllReduce;
  bool is_on_gpu = true;  // false: these are host times, and there are no others
  std::uint16_t flags = 0;
  double bound_ns = 0;
  std::uint64_t replay = runfile::kNoRow;  // of a captured call
  bool is_captured = false;
  std::int64_t ahead_ns = 0;  // the host calls so much before the GPU begins
};

struct MeetingPlan {
  std::uint32_t processes = 0;
  std::uint32_t processes_of_node = 0;  // 0: all on one node
  bool has_devices = false;             // process p has GPU p
  // Processes of the members of each communicator, in order; kNoIndex: one that was not recorded.
  std::vector<std::vector<std::uint32_t>> comms;
};

runfile::RunTables run_of_meetings(const MeetingPlan& plan, const std::vector<Meeting>& meetings);

}  // namespace jaxprof::study::test

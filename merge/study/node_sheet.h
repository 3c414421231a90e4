// What one run says of each of its nodes, beside the others that did the same work: a line of a cluster's audit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "merge/study/study.h"

namespace jaxprof::study {

struct NodeSheet {
  std::string host;
  std::uint32_t n_processes = 0;
  // Against the median of all nodes of the run; 1 is like the others, less is slower. None: nothing to compare with.
  std::optional<double> gpu_score;    // kernels that all nodes ran: usual length / own, weighted by time
  std::optional<double> nic_score;    // bytes a second of the node's slowest port in use / usual
  std::optional<double> own_score;    // own time before collectives: usual / own; holds the host's part too
  std::optional<double> last_share;   // of the resolved collectives in which it was with others: how often it came last
  std::optional<double> blame_share;  // of what all nodes waited for each other
  std::optional<double> clock_bound_ns;
  std::uint64_t n_events = 0;
  std::uint64_t n_dropped = 0;
};

struct RunSheet {
  std::string run_file;
  std::string run_id;
  std::int64_t unix_ns = 0;  // the run's last stamp
  std::vector<NodeSheet> nodes;
};

// Reads one run file. kInputUnreadable.
Result<RunSheet> read_run_sheet(const std::string& run_file, const StudyOptions& options);

}  // namespace jaxprof::study

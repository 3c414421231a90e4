// The GPU work of a process, found by what joins it with calls: its correlation, its graph node, the thread and time of
// the API call that launched it, its stream's address.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/match/gpu_work.h"
#include "merge/rundir/gpu_state.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::match {

// A row of GpuWork::kernels or ::memops.
struct WorkRow {
  bool is_memop = false;
  std::uint64_t row = 0;
  auto operator<=>(const WorkRow&) const = default;
};

// Is it a kernel of NCCL by its name, mangled or not? Names say no more than that: one kernel serves several functions
// and protocols.
bool is_nccl_kernel(std::string_view name);

class WorkIndex {
 public:
  // All are borrowed.
  WorkIndex(const GpuWork& work, const rundir::GpuState& gpu, const runfile::StringTable& strings);

  const std::vector<WorkRow>& with_correlation(std::uint64_t correlation) const;
  // Of a node of an executable graph, in the order of the graph's launches.
  const std::vector<WorkRow>& of_node(std::uint64_t node) const;
  // What was launched by API calls of the thread whose middle lies in [start, end], on the axis, ns.
  std::vector<WorkRow> launched_in(std::uint64_t tid, std::int64_t start_ns, std::int64_t end_ns) const;
  // NCCL's kernels that ran on a stream with that address, outside of graphs, by start.
  std::vector<WorkRow> nccl_kernels_on(std::uint64_t stream_address) const;

  bool is_nccl(const WorkRow& work) const;
  bool is_on(const WorkRow& work, std::uint64_t stream_address) const;
  bool knows_stream(std::uint64_t address) const { return lanes_.count(address) > 0; }
  // What orders the launches of a graph: CUPTI's correlation rises with every call.
  std::pair<std::uint64_t, std::int64_t> launch_order(const WorkRow& work) const;
  std::int64_t start_ns(const WorkRow& work) const;

 private:
  using Lane = std::pair<std::uint32_t, std::uint32_t>;  // context, stream
  struct Launch {
    std::int64_t middle_ns;
    std::uint64_t correlation;
  };

  Lane lane_of(const WorkRow& work) const;

  const GpuWork& work_;
  std::unordered_map<std::uint64_t, std::vector<WorkRow>> by_correlation_;
  std::unordered_map<std::uint64_t, std::vector<WorkRow>> by_node_;
  std::unordered_map<std::uint64_t, std::vector<Launch>> by_tid_;  // by middle
  std::unordered_map<std::uint64_t, std::vector<Lane>> lanes_;     // by address
  std::map<Lane, std::vector<WorkRow>> nccl_kernels_;              // outside of graphs, by start
  std::vector<bool> is_nccl_;                                      // of kernels
};

}  // namespace jaxprof::match

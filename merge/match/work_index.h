// The GPU work of a process, found by what joins it with calls: its correlation, its graph node, the thread and time of
// the API call that launched it, its stream's address.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/match/api_calls.h"
#include "merge/match/gpu_work.h"
#include "merge/match/keyed_lists.h"
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

  // What one launch of that correlation launched; of several, since they come again, the first at `called_ns` or after.
  std::span<const WorkRow> with_correlation(std::uint64_t correlation, std::int64_t called_ns) const;
  // Of a node of an executable graph, in the order of the graph's launches; without what was launched before the
  // window.
  std::span<const WorkRow> of_node(std::uint64_t node) const { return by_node_.of(node); }
  // What was launched by API calls of the thread whose middle lies in [start, end], on the axis, ns. Sorts the calls by
  // thread when it is asked for the first time.
  std::vector<WorkRow> launched_in(std::uint64_t tid, std::int64_t start_ns, std::int64_t end_ns);
  // NCCL's kernels that ran on a stream with that address, outside of graphs, by start; without what was launched
  // before the window. Sorts them by stream when it is asked for the first time.
  std::vector<WorkRow> nccl_kernels_on(std::uint64_t stream_address);

  bool is_nccl(const WorkRow& work);
  bool is_on(const WorkRow& work, std::uint64_t stream_address) const;
  bool knows_stream(std::uint64_t address) const { return lanes_.count(address) > 0; }
  // When it was launched: the middle of the call, or where that was not recorded its own start. On the axis, ns.
  std::int64_t launch_ns(const WorkRow& work) const;
  // What orders the launches of a graph: when they were made, then when their work began.
  std::pair<std::int64_t, std::int64_t> launch_order(const WorkRow& work) const;
  std::int64_t start_ns(const WorkRow& work) const;
  std::int32_t device(const WorkRow& work) const;  // CUDA's ordinal; -1: not known

 private:
  using Lane = std::pair<std::uint32_t, std::uint32_t>;  // context, stream
  struct Launch {
    std::int64_t middle_ns;
    std::uint64_t call;  // row of the outermost call
  };

  void index_launches();
  void index_nccl_kernels();
  Lane lane_of(const WorkRow& work) const;
  std::uint64_t api_of(const WorkRow& work) const;
  bool is_one_launch(const WorkRow& a, const WorkRow& b) const;

  const GpuWork& work_;
  const ApiCalls calls_;
  const runfile::StringTable& strings_;
  KeyedLists<WorkRow> by_correlation_;                                // by launch_order
  KeyedLists<WorkRow> by_node_;                                       // the same
  std::optional<KeyedLists<Launch>> by_tid_;                          // by middle
  std::unordered_map<std::uint64_t, std::vector<Lane>> lanes_;        // by address
  std::optional<std::map<Lane, std::vector<WorkRow>>> nccl_kernels_;  // outside of graphs, by start
  std::unordered_map<std::uint32_t, bool> is_nccl_;                   // by name
};

}  // namespace jaxprof::match

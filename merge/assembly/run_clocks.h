// The clocks of a run's nodes, brought together. What observers recorded of each other goes to the solver; out of it
// comes, for each CLOCK_MONOTONIC_RAW of the run, the way to one time axis: that clock of the reference node, set to
// the reference's wall clock at the start, and as fast as that is on average (without its steps). Where no probes lead
// to the reference a node stays on its own wall clock, and what that is worth is what the two kernels say of theirs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/spool/clock_codec.h"
#include "merge/clock/clock_solution.h"
#include "merge/rundir/node_trace.h"

namespace jaxprof::assembly {

struct SourceNode;
struct SourceObserver;

// One CLOCK_MONOTONIC_RAW: of a node, as one time namespace sees it. Position = the solver's node.
struct ClockScale {
  std::uint32_t node = 0;  // of RunSources::nodes
  std::int64_t time_namespace = -1;
  std::vector<std::size_t> observers;  // of RunSources::observers
};

// What the kernel of a node said of its wall clock, all its observers together.
struct WallClockCare {
  bool is_known = false;
  bool is_synchronized = false;  // all the time
  double bound_ns = 0;           // the worst that was told
};

// How a node stands on the axis. Position = node of RunSources::nodes.
struct NodeAlignment {
  clock::Method method = clock::Method::kWallClockUnknown;
  std::int64_t scale = -1;        // of RunClocks::scales, with a model; -1: none
  std::string reason;             // why it was not done in a better way
  std::int64_t wall_lead_ns = 0;  // its wall clock minus the axis, in the middle of the run
  double bound_ns = 0;            // of a wall clock; NaN: nobody knows
};

// All readings of an observer's clocks, in any order.
std::vector<spool::ClockReading> clock_readings(const rundir::NodeTrace& trace);

class RunClocks {
 public:
  RunClocks() = default;
  // `observers` by node and time, `nodes` by their first rank.
  RunClocks(const std::vector<SourceObserver>& observers, const std::vector<SourceNode>& nodes);

  // True if at least two nodes were compared.
  bool has_models() const { return has_models_; }
  std::uint32_t reference_node() const { return reference_node_; }
  const std::vector<ClockScale>& scales() const { return scales_; }
  const std::vector<NodeAlignment>& nodes() const { return nodes_; }
  const std::vector<WallClockCare>& care() const { return care_; }
  // By scale. Empty without models.
  const clock::ClockSolution& solution() const { return solution_; }
  std::uint64_t unknown_bursts() const { return unknown_bursts_; }  // with a node that left no spool

  // The scale on which a node's processes of a time namespace lie: their own, else the node's. -1: the node has no
  // model.
  std::int64_t scale_of(std::uint32_t node, std::int64_t time_namespace) const;
  // The axis, ns since the Unix epoch, when the scale's clock read `raw_ns`, which is plausible; only of scales with a
  // model. Held within 0 and kLastWallNs (merge/clock/plausible.h).
  std::int64_t axis_ns(std::size_t scale, std::int64_t raw_ns) const;
  // What the scale's clock read when the axis was at `axis_ns`, within 2 ns; held within kLastRawNs either way.
  std::int64_t raw_ns(std::size_t scale, std::int64_t axis_ns) const;

 private:
  using PeerKey = std::pair<std::string, std::uint64_t>;  // boot id, network namespace

  void collect_scales(const std::vector<SourceObserver>& observers);
  void read_care(const std::vector<SourceObserver>& observers);
  std::int64_t scale_of_peer(const rundir::ClockPeer& peer) const;
  void solve(const std::vector<SourceObserver>& observers);
  std::uint32_t choose_reference(const std::vector<SourceObserver>& observers,
                                 const std::vector<std::pair<std::uint32_t, std::uint32_t>>& links) const;
  void set_axis(const std::vector<SourceObserver>& observers);
  void align_nodes(const std::vector<SourceObserver>& observers);

  bool has_models_ = false;
  std::uint32_t reference_node_ = 0;
  std::vector<ClockScale> scales_;
  std::map<PeerKey, std::uint32_t> scale_of_endpoint_;
  std::map<std::string, std::uint32_t> scale_of_boot_;
  std::vector<NodeAlignment> nodes_;
  std::vector<WallClockCare> care_;
  clock::ClockSolution solution_;
  std::uint64_t unknown_bursts_ = 0;
  // Where the reference's raw clock lies on the axis.
  std::int64_t origin_raw_ns_ = 0;
  std::int64_t origin_axis_ns_ = 0;
  double rate_ = 0;  // the axis runs by this much faster, ns per ns
};

}  // namespace jaxprof::assembly

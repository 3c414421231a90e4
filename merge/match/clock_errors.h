// How far the clocks of two nodes may be apart at an instant, by the knots of /clock/model. Arrivals of members on
// different nodes are compared with this, and with nothing else: a difference inside of it names nobody.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::match {

// Of a node against the reference. NaN: not known.
struct NodeError {
  double sigma_ns = 0;
  double hard_lo_ns = 0;  // the truth minus what the table says, at least
  double hard_hi_ns = 0;  // at most
};

// Of the differences between several nodes, the worst of all pairs.
struct SpreadError {
  double sigma_ns = 0;
  double bound_ns = 0;
  bool is_known() const { return bound_ns == bound_ns; }
};

class ClockErrors {
 public:
  // `run` has /clock/model with one part a node; it may go. Without knots a node is not known. `epoch_ns` is zero of
  // the axis that is asked for, on the axis of the model.
  explicit ClockErrors(const runfile::RunTables& run, std::int64_t epoch_ns = 0);

  // `time_ns` on the axis that is asked for. Between knots linear; beyond them the error grows as fast as
  // /clock/nodes says that it can.
  NodeError at(std::uint32_t node, std::int64_t time_ns) const;
  // Of events on `nodes` around `time_ns`; all 0 if they are on one node. Nodes may come several times.
  SpreadError between(std::span<const std::uint32_t> nodes, std::int64_t time_ns) const;

 private:
  std::vector<std::int64_t> time_ns_;
  std::vector<NodeError> errors_;  // by knot
  std::vector<std::uint64_t> offset_;
  std::vector<double> growth_;  // by node, ns per ns
};

}  // namespace jaxprof::match

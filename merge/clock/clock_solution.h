// Where the clocks of a run's nodes stood to each other: what the solver finds out, as values. Every node's
// CLOCK_MONOTONIC_RAW is related to that of one node, the reference. Two figures of error stand beside each other and
// are never mixed: `sigma` is what is likely, from how well readings agree; the `hard` interval is what must be true if
// no packet arrived before it was sent and no clock changed its rate by more than the stated drift bound.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace jaxprof::clock {

// How a node's clock was related to the reference's. Stored in run files: never renumber.
enum class Method : std::uint8_t {
  kReference = 0,
  kKernelStamps = 1,      // UDP probes, stamped by the kernel
  kUserStamps = 2,        // UDP probes, stamped by the programs
  kWallClock = 3,         // CLOCK_REALTIME, with the kernel's own bound on both nodes
  kWallClockUnknown = 4,  // CLOCK_REALTIME, which nobody vouches for
};

// The reference's CLOCK_MONOTONIC_RAW minus the node's, at an instant. The truth lies in [offset + hard_lo, offset +
// hard_hi] at the knot, and between two knots in the interval between theirs, line by line; before the first and after
// the last the interval grows by NodeSolution::drift_bound.
struct ClockKnot {
  std::int64_t raw_ns = 0;  // of the node
  std::int64_t offset_ns = 0;
  double frequency = 0;  // change of the offset per ns of the node's clock here
  double sigma_ns = 0;
  double hard_lo_ns = 0;  // at most 0
  double hard_hi_ns = 0;  // at least 0
};

// A time in which a node's clock may have jumped or changed its rate, by that clock: the model in it is a guess, and
// the hard interval says how bad a one.
struct ClockHole {
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
};

struct NodeSolution {
  Method method = Method::kWallClockUnknown;
  std::vector<ClockKnot> knots;  // by raw_ns; empty: no path of probes leads to the reference
  std::vector<ClockHole> holes;  // by time; none of the reference, whose clock is right by definition
  double drift_bound = 0;        // ns per ns: how fast the truth may leave the model between bursts
  std::uint64_t bursts = 0;      // with this node at either end, that were used
  std::uint64_t exchanges = 0;
  std::uint64_t lost = 0;        // requests without an answer
  bool is_contradicted = false;  // its intervals and others' cannot all be true; its knots are what most say
};

// All probes between two nodes, whoever asked.
struct LinkSolution {
  std::uint32_t a = 0;  // nodes, a < b
  std::uint32_t b = 0;
  Method method = Method::kKernelStamps;  // the worse of the two directions
  std::uint64_t bursts = 0;
  std::uint64_t rejected = 0;  // bursts that contradict themselves, or came over a step
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  double floor_rtt_ns = 0;  // least round trip less the server's time
  // By how much this link's offset lies off what all others say, median over time: half of the difference between the
  // delays of its two directions.
  double residual_ns = 0;
  double residual_max_ns = 0;
  bool is_flagged = false;  // the residual is no noise: the link is asymmetric, or a stamp is wrong
};

// One burst as an interval of (b's clock - a's clock) when a's clock was at `raw_ns`.
struct BurstInterval {
  std::uint32_t link = 0;
  std::int64_t raw_ns = 0;  // of node a of the link
  std::int64_t lo_ns = 0;
  std::int64_t hi_ns = 0;
  std::int64_t min_rtt_ns = 0;
  std::uint32_t exchanges = 0;  // that were used
  bool is_rejected = false;
};

enum class StepKind : std::uint8_t {
  kWallClockSet = 1,  // CLOCK_REALTIME jumped against CLOCK_MONOTONIC_RAW
  kClockSource = 2,   // the kernel keeps time by another counter
  kRawJump = 3,       // CLOCK_MONOTONIC_RAW jumped against other nodes
};
struct ClockStep {
  std::uint32_t node = 0;
  std::int64_t raw_ns = 0;  // of the node, after the step at the latest
  std::int64_t size_ns = 0;
  StepKind kind = StepKind::kWallClockSet;
};

struct ClockSolution {
  std::uint32_t reference = 0;
  std::vector<NodeSolution> nodes;
  std::vector<LinkSolution> links;
  std::vector<BurstInterval> bursts;  // by link and time
  std::vector<ClockStep> steps;       // by node and time
  // By how much links lie off the solution, over links and epochs; 0 without a loop.
  double loop_residual_p50_ns = 0;
  double loop_residual_p99_ns = 0;
  double loop_residual_max_ns = 0;
  std::uint64_t contradictions = 0;  // epochs at which some intervals could not all be true
};

// The model between knots: monotone, linear, the outer segments go on. Only with knots; of times within kFarthestNs
// (rounding.h) either way, which knots are too.
std::int64_t reference_raw_ns(const NodeSolution& node, std::int64_t raw_ns);
// The inverse: which reading of the node's clock the model maps there, within a nanosecond.
std::int64_t node_raw_ns(const NodeSolution& node, std::int64_t reference_raw_ns);

struct ClockError {
  double sigma_ns = 0;
  double hard_lo_ns = 0;
  double hard_hi_ns = 0;
};
ClockError error_at(const NodeSolution& node, std::int64_t raw_ns);

}  // namespace jaxprof::clock

// The columns of tables about clocks: names in the file, units, meanings, missing values. As in schema.h, which
// includes this.
#pragma once

#include "merge/runfile/column_spec.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

template <Is<ClockNodeTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"node", "index of /job/nodes", "the node, equal to the row", kNoIndex}, t.node);
  visit(ColumnSpec{"method", "word", "how its clock was related to the reference's", ClockMethod::kMissing}, t.method);
  visit(ColumnSpec{"reason", "index of /strings/value", "why it was not done in a better way", kNoText}, t.reason);
  visit(ColumnSpec{"wall_offset_ns", "ns", "its wall clock minus the axis, in the middle of the run", kNoPayload},
        t.wall_offset_ns);
  visit(ColumnSpec{"drift_ppb", "1e-9", "by how much its raw clock is slower than the axis, mean", kNoReal},
        t.drift_ppb);
  visit(ColumnSpec{"sigma_ns", "ns", "likely error, the largest during the run", kNoReal}, t.sigma_ns);
  visit(ColumnSpec{"bound_ns", "ns", "error at most, either way, the largest during the run", kNoReal}, t.bound_ns);
  visit(ColumnSpec{"drift_bound_ppb", "1e-9", "how fast the truth may leave the model between bursts", kNoReal},
        t.drift_bound_ppb);
  visit(ColumnSpec{"is_contradicted", "flag", "1 if its probes and other nodes' cannot all be true", kNoByte},
        t.is_contradicted);
  visit(ColumnSpec{"n_bursts", "1", "bursts of probes that were used, with the node at either end", kNoRow},
        t.n_bursts);
  visit(ColumnSpec{"n_exchanges", "1", "requests that were answered", kNoRow}, t.n_exchanges);
  visit(ColumnSpec{"n_lost", "1", "requests that were not", kNoRow}, t.n_lost);
  visit(ColumnSpec{"address", "index of /strings/value", "where other nodes reach it", kNoText}, t.address);
  visit(ColumnSpec{"interface", "index of /strings/value", "network interface of the probes", kNoText}, t.interface);
  visit(ColumnSpec{"stamps", "bits", "what its kernel stamps: 1 packets that come, 2 packets that go", kNoByte},
        t.stamps);
  visit(ColumnSpec{"clocksource", "index of /strings/value",
                   "by which counter its kernel keeps time; after a bar the "
                   "one that it changed to",
                   kNoText},
        t.clocksource);
  visit(ColumnSpec{"is_synchronized", "flag", "1 if its kernel took the wall clock for synchronized all the time",
                   kNoByte},
        t.is_synchronized);
  visit(ColumnSpec{"wall_bound_ns", "ns", "error of its wall clock at most, as its kernel says", kNoReal},
        t.wall_bound_ns);
  visit(ColumnSpec{"n_packets", "1", "packets that reached it", kNoRow}, t.n_packets);
  visit(ColumnSpec{"n_refused", "1", "of them, those that were not right and dropped", kNoRow}, t.n_refused);
  visit(ColumnSpec{"cpu_ns", "ns", "processor time that the probes took there", kNoTime}, t.cpu_ns);
}

template <Is<ClockLinkTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"a", "index of /job/nodes", "one node", kNoIndex}, t.a);
  visit(ColumnSpec{"b", "index of /job/nodes", "the other one", kNoIndex}, t.b);
  visit(ColumnSpec{"method", "word", "whose stamps were used", ClockMethod::kMissing}, t.method);
  visit(ColumnSpec{"n_bursts", "1", "bursts that were used", kNoRow}, t.n_bursts);
  visit(ColumnSpec{"n_rejected", "1", "bursts that contradict themselves, or came over a step", kNoRow}, t.n_rejected);
  visit(ColumnSpec{"n_sent", "1", "requests", kNoRow}, t.n_sent);
  visit(ColumnSpec{"n_answered", "1", "answers", kNoRow}, t.n_answered);
  visit(ColumnSpec{"floor_rtt_ns", "ns", "least round trip, less the time at the other end", kNoReal}, t.floor_rtt_ns);
  visit(ColumnSpec{"residual_ns", "ns", "by how much the link disagrees with all others, median", kNoReal},
        t.residual_ns);
  visit(ColumnSpec{"residual_max_ns", "ns", "the same, at most", kNoReal}, t.residual_max_ns);
  visit(ColumnSpec{"is_flagged", "flag", "1 if that is no noise: the two ways take different times", kNoByte},
        t.is_flagged);
}

template <Is<ClockBurstTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"link", "row of /clock/links", "the pair of nodes", kNoIndex}, t.link);
  visit(ColumnSpec{"raw_ns", "ns", "a's raw clock then", kNoTime}, t.raw_ns);
  visit(ColumnSpec{"lo_ns", "ns", "b's raw clock minus a's, at least", kNoPayload}, t.lo_ns);
  visit(ColumnSpec{"hi_ns", "ns", "the same, at most", kNoPayload}, t.hi_ns);
  visit(ColumnSpec{"min_rtt_ns", "ns", "least round trip, less the time at the other end", kNoTime}, t.min_rtt_ns);
  visit(ColumnSpec{"n_exchanges", "1", "exchanges that were used", kNoIndex}, t.n_exchanges);
  visit(ColumnSpec{"is_rejected", "flag", "1 if it was not used", kNoByte}, t.is_rejected);
}

template <Is<ClockAnchorTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"node", "index of /job/nodes", "the node", kNoIndex}, t.node);
  visit(ColumnSpec{"raw_ns", "ns", "CLOCK_MONOTONIC_RAW", kNoTime}, t.raw_ns);
  visit(ColumnSpec{"wall_ns", "ns", "CLOCK_REALTIME, since 1970 UTC", kNoTime}, t.wall_ns);
  visit(ColumnSpec{"monotonic_ns", "ns", "CLOCK_MONOTONIC", kNoTime}, t.monotonic_ns);
  visit(ColumnSpec{"bracket_ns", "ns", "how long the reading of all took", kNoIndex}, t.bracket_ns);
}

template <Is<ClockDisciplineTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"node", "index of /job/nodes", "the node", kNoIndex}, t.node);
  visit(ColumnSpec{"raw_ns", "ns", "CLOCK_MONOTONIC_RAW", kNoTime}, t.raw_ns);
  visit(ColumnSpec{"status", "bits", "STA_ of adjtimex(2); 64: not synchronized", kNoIndex}, t.status);
  visit(ColumnSpec{"frequency_ppb", "1e-9", "by how much the kernel speeds the wall clock up", kNoPayload},
        t.frequency_ppb);
  visit(ColumnSpec{"offset_ns", "ns", "what it still has to slew", kNoPayload}, t.offset_ns);
  visit(ColumnSpec{"max_error_ns", "ns", "error of the wall clock at most, if synchronized", kNoTime}, t.max_error_ns);
  visit(ColumnSpec{"estimated_error_ns", "ns", "its likely error", kNoTime}, t.estimated_error_ns);
  visit(ColumnSpec{"tai_offset_s", "s", "TAI minus UTC, 0 if the kernel does not know", kNoNumber}, t.tai_offset_s);
}

template <Is<ClockStepTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"node", "index of /job/nodes", "the node", kNoIndex}, t.node);
  visit(ColumnSpec{"time_ns", "ns", "when, at the latest, on the run's time axis", kNoTime}, t.time_ns);
  visit(ColumnSpec{"size_ns", "ns", "by how much the clock jumped forward", kNoPayload}, t.size_ns);
  visit(ColumnSpec{"kind", "word", "what jumped", ClockStepKind::kMissing}, t.kind);
}

template <Is<ClockModelTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"raw_ns", "ns", "CLOCK_MONOTONIC_RAW of the node", kNoTime}, t.raw_ns);
  visit(ColumnSpec{"time_ns", "ns", "the same instant on the run's time axis", kNoPayload}, t.time_ns);
  visit(ColumnSpec{"frequency_ppb", "1e-9", "by how much the raw clock is slower than the axis there", kNoReal},
        t.frequency_ppb);
  visit(ColumnSpec{"sigma_ns", "ns", "likely error there", kNoReal}, t.sigma_ns);
  visit(ColumnSpec{"hard_lo_ns", "ns", "the truth minus the model, at least", kNoReal}, t.hard_lo_ns);
  visit(ColumnSpec{"hard_hi_ns", "ns", "the truth minus the model, at most", kNoReal}, t.hard_hi_ns);
}

template <Is<ClockAuditTable> Table>
void for_each_column(Table& t, auto&& visit) {
  visit(ColumnSpec{"reference", "index of /job/nodes", "node whose raw clock the axis follows", kNoIndex}, t.reference);
  visit(ColumnSpec{"loop_residual_p50_ns", "ns", "by how much links lie off the solution, median", kNoReal},
        t.loop_residual_p50_ns);
  visit(ColumnSpec{"loop_residual_p99_ns", "ns", "the same, 99th percentile", kNoReal}, t.loop_residual_p99_ns);
  visit(ColumnSpec{"loop_residual_max_ns", "ns", "the same, at most", kNoReal}, t.loop_residual_max_ns);
  visit(ColumnSpec{"n_contradictions", "1", "times at which not all probes can be true", kNoRow}, t.n_contradictions);
  visit(ColumnSpec{"n_instances", "1", "instances over several nodes with GPU times that were looked at", kNoRow},
        t.n_instances);
  visit(ColumnSpec{"n_violations", "1", "of them, those that end on a member before another one began", kNoRow},
        t.n_violations);
  visit(ColumnSpec{"max_violation_ns", "ns", "by how much more than the bound allows, at most", kNoTime},
        t.max_violation_ns);
  visit(ColumnSpec{"worst_instance", "row of /collectives", "where that was", kNoRow}, t.worst_instance);
  visit(ColumnSpec{"worst_early", "index of /job/nodes", "node of the member that ended", kNoIndex}, t.worst_early);
  visit(ColumnSpec{"worst_late", "index of /job/nodes", "node of the member that began", kNoIndex}, t.worst_late);
}

constexpr TableSpec spec_of(const ClockNodeTable&) {
  return {"/clock/nodes", true, "node", "n_rows", "clocks of nodes"};
}
constexpr TableSpec spec_of(const ClockLinkTable&) {
  return {"/clock/links", true, "a, b", "n_rows", "pairs of nodes whose clocks were compared"};
}
constexpr TableSpec spec_of(const ClockBurstTable&) {
  return {"/clock/bursts", false, "link, raw_ns", "n_rows", "bursts of probes"};
}
constexpr TableSpec spec_of(const ClockAnchorTable&) {
  return {"/clock/anchors", false, "node, raw_ns", "n_rows", "readings of a node's clocks"};
}
constexpr TableSpec spec_of(const ClockDisciplineTable&) {
  return {"/clock/discipline", true, "node, raw_ns", "n_rows", "what kernels say of their wall clocks"};
}
constexpr TableSpec spec_of(const ClockStepTable&) {
  return {"/clock/steps", true, "node, time_ns", "n_rows", "jumps of clocks"};
}
constexpr TableSpec spec_of(const ClockModelTable&) {
  return {"/clock/model", false, "node, raw_ns", "n_rows", "how raw clocks lie on the axis"};
}
constexpr TableSpec spec_of(const ClockAuditTable&) {
  return {"/clock/audit", true, "none", "n_rows", "what checks the clocks"};
}

}  // namespace jaxprof::runfile

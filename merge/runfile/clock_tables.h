// The clocks of a run's nodes, as columns: how each came to the run's time axis, what the probes between nodes said,
// and how far it all can be trusted. Part of RunTables; meanings, units and missing values stand in clock_schema.h.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/enums.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::runfile {

// /clock/nodes: one row for each row of /job/nodes.
struct ClockNodeTable {
  std::vector<std::uint32_t> node;
  std::vector<ClockMethod> method;
  std::vector<StringId> reason;
  std::vector<std::int64_t> wall_offset_ns;
  std::vector<double> drift_ppb;
  std::vector<double> sigma_ns;
  std::vector<double> bound_ns;
  std::vector<double> drift_bound_ppb;
  std::vector<std::uint8_t> is_contradicted;
  std::vector<std::uint64_t> n_bursts;
  std::vector<std::uint64_t> n_exchanges;
  std::vector<std::uint64_t> n_lost;
  std::vector<StringId> address;
  std::vector<StringId> interface;
  std::vector<std::uint8_t> stamps;
  std::vector<StringId> clocksource;
  std::vector<std::uint8_t> is_synchronized;
  std::vector<double> wall_bound_ns;
  std::vector<std::uint64_t> n_packets;
  std::vector<std::uint64_t> n_refused;
  std::vector<std::int64_t> cpu_ns;
};

// /clock/links: one row a pair of nodes that were compared, by (a, b).
struct ClockLinkTable {
  std::vector<std::uint32_t> a;
  std::vector<std::uint32_t> b;
  std::vector<ClockMethod> method;
  std::vector<std::uint64_t> n_bursts;
  std::vector<std::uint64_t> n_rejected;
  std::vector<std::uint64_t> n_sent;
  std::vector<std::uint64_t> n_answered;
  std::vector<double> floor_rtt_ns;
  std::vector<double> residual_ns;
  std::vector<double> residual_max_ns;
  std::vector<std::uint8_t> is_flagged;
};

// /clock/bursts, by (link, time).
struct ClockBurstTable {
  std::vector<std::uint32_t> link;
  std::vector<std::int64_t> raw_ns;
  std::vector<std::int64_t> lo_ns;
  std::vector<std::int64_t> hi_ns;
  std::vector<std::int64_t> min_rtt_ns;
  std::vector<std::uint32_t> n_exchanges;
  std::vector<std::uint8_t> is_rejected;
};

// /clock/anchors, by (node, time): all clocks of a node read together, the best reading a second.
struct ClockAnchorTable {
  std::vector<std::uint32_t> node;
  std::vector<std::int64_t> raw_ns;
  std::vector<std::int64_t> wall_ns;
  std::vector<std::int64_t> monotonic_ns;
  std::vector<std::uint32_t> bracket_ns;
};

// /clock/discipline, by (node, time): what the kernel says of its wall clock.
struct ClockDisciplineTable {
  std::vector<std::uint32_t> node;
  std::vector<std::int64_t> raw_ns;
  std::vector<std::uint32_t> status;
  std::vector<std::int64_t> frequency_ppb;
  std::vector<std::int64_t> offset_ns;
  std::vector<std::int64_t> max_error_ns;
  std::vector<std::int64_t> estimated_error_ns;
  std::vector<std::int32_t> tai_offset_s;
};

// /clock/steps, by (node, time).
struct ClockStepTable {
  std::vector<std::uint32_t> node;
  std::vector<std::int64_t> time_ns;
  std::vector<std::int64_t> size_ns;
  std::vector<ClockStepKind> kind;
};

// /clock/model, by (node, time): the knots between which a node's clock is related to the axis by lines.
struct ClockModelTable {
  std::vector<std::int64_t> raw_ns;
  std::vector<std::int64_t> time_ns;
  std::vector<double> frequency_ppb;
  std::vector<double> sigma_ns;
  std::vector<double> hard_lo_ns;
  std::vector<double> hard_hi_ns;
};

// /clock/audit: one row.
struct ClockAuditTable {
  std::vector<std::uint32_t> reference;
  std::vector<double> loop_residual_p50_ns;
  std::vector<double> loop_residual_p99_ns;
  std::vector<double> loop_residual_max_ns;
  std::vector<std::uint64_t> n_contradictions;
  std::vector<std::uint64_t> n_instances;
  std::vector<std::uint64_t> n_violations;
  std::vector<std::int64_t> max_violation_ns;
  std::vector<std::uint64_t> worst_instance;
  std::vector<std::uint32_t> worst_early;
  std::vector<std::uint32_t> worst_late;
};

}  // namespace jaxprof::runfile

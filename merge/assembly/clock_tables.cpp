#include "merge/assembly/clock_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "merge/assembly/clock_model.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kPerBillion = 1e9;
constexpr std::int64_t kSecondNs = 1'000'000'000;

static_assert(static_cast<int>(runfile::ClockMethod::kWallClockUnknown) ==
              static_cast<int>(clock::Method::kWallClockUnknown));
runfile::ClockMethod method_of(clock::Method method) {
  return static_cast<runfile::ClockMethod>(method);
}

runfile::ClockStepKind kind_of(clock::StepKind kind) {
  switch (kind) {
    case clock::StepKind::kWallClockSet:
      return runfile::ClockStepKind::kWallClockSet;
    case clock::StepKind::kClockSource:
      return runfile::ClockStepKind::kClockSource;
    case clock::StepKind::kRawJump:
      return runfile::ClockStepKind::kRawJump;
  }
  return runfile::ClockStepKind::kMissing;
}

// ---- nodes --------------------------------------------------------------------------------------------------------

struct WorstError {
  double sigma_ns = kUnknown;
  double bound_ns = kUnknown;
  double drift_ppb = kUnknown;
};

WorstError worst_error(const RunTables& run, std::uint32_t node) {
  const runfile::ClockModelTable& model = run.clock_model;
  const std::size_t first = run.clock_model_offset[node];
  const std::size_t end = run.clock_model_offset[node + 1];
  if (first == end) return {};
  WorstError worst{0, 0, kUnknown};
  for (std::size_t row = first; row < end; ++row) {
    // NaN wins over everything: what is unknown once is not known.
    const double bound_ns = std::max(0 - model.hard_lo_ns[row], model.hard_hi_ns[row]);
    worst.sigma_ns = std::isnan(model.sigma_ns[row]) ? kUnknown : std::max(model.sigma_ns[row], worst.sigma_ns);
    worst.bound_ns = std::isnan(bound_ns) ? kUnknown : std::max(bound_ns, worst.bound_ns);
  }
  worst.drift_ppb =
      slope_ppb({model.raw_ns[first], model.time_ns[first]}, {model.raw_ns[end - 1], model.time_ns[end - 1]});
  return worst;
}

void fill_service(const RunSources& sources, std::uint32_t node, std::size_t row, RunTables* run) {
  runfile::ClockNodeTable& table = run->clock_nodes;
  std::string source;
  std::uint64_t packets = 0;
  std::uint64_t refused = 0;
  std::uint64_t cpu_ns = 0;
  bool has_packets = false;
  for (const SourceObserver& observer : sources.observers) {
    if (observer.node != node) continue;
    const rundir::ClockRecords& clock = observer.trace.clock();
    for (const rundir::ClockService& service : clock.services()) {
      if (!service.address.empty()) table.address[row] = run->strings.intern(service.address);
      if (!service.interface.empty()) table.interface[row] = run->strings.intern(service.interface);
      if (service.state.port != 0) table.stamps[row] = static_cast<std::uint8_t>(service.state.stamps & 3);
      const std::size_t bar = source.rfind('|');
      const std::string before = bar == std::string::npos ? source : source.substr(bar + 1);
      if (!service.clocksource.empty() && service.clocksource != before) {
        source += (source.empty() ? "" : "|") + service.clocksource;
      }
    }
    if (const auto& told = clock.packets()) {
      has_packets = true;
      packets += told->received;
      refused += told->wrong_size + told->wrong_mac + told->wrong_node + told->replayed + told->rate_limited;
      cpu_ns += told->cpu_ns;
    }
  }
  table.clocksource[row] = run->strings.intern(source);
  if (!has_packets) return;
  table.n_packets[row] = packets;
  table.n_refused[row] = refused;
  table.cpu_ns[row] = static_cast<std::int64_t>(cpu_ns);
}

void fill_nodes(const RunSources& sources, RunTables* run) {
  const RunClocks& clocks = sources.run_clocks;
  runfile::ClockNodeTable& table = run->clock_nodes;
  for (std::uint32_t node = 0; node < sources.nodes.size(); ++node) {
    const NodeAlignment& alignment = clocks.nodes()[node];
    const std::size_t row = runfile::add_row(table);
    table.node[row] = node;
    table.method[row] = method_of(alignment.method);
    table.reason[row] = run->strings.intern(alignment.reason);
    const WorstError worst = worst_error(*run, node);
    table.sigma_ns[row] = worst.sigma_ns;
    table.bound_ns[row] = worst.bound_ns;
    table.drift_ppb[row] = worst.drift_ppb;
    table.wall_offset_ns[row] = alignment.wall_lead_ns;
    if (alignment.scale >= 0) {
      const clock::NodeSolution& solved = clocks.solution().nodes[static_cast<std::size_t>(alignment.scale)];
      table.drift_bound_ppb[row] = solved.drift_bound * kPerBillion;
      table.is_contradicted[row] = solved.is_contradicted ? 1 : 0;
      table.n_bursts[row] = solved.bursts;
      table.n_exchanges[row] = solved.exchanges;
      table.n_lost[row] = solved.lost;
    }
    const WallClockCare& care = clocks.care()[node];
    if (care.is_known) {
      table.is_synchronized[row] = care.is_synchronized ? 1 : 0;
      table.wall_bound_ns[row] = care.is_synchronized ? care.bound_ns : kUnknown;
    }
    fill_service(sources, node, row, run);
  }
}

// ---- what was measured --------------------------------------------------------------------------------------------

void fill_links(const RunSources& sources, RunTables* run) {
  const RunClocks& clocks = sources.run_clocks;
  runfile::ClockLinkTable& table = run->clock_links;
  for (const clock::LinkSolution& link : clocks.solution().links) {
    const std::size_t row = runfile::add_row(table);
    table.a[row] = clocks.scales()[link.a].node;
    table.b[row] = clocks.scales()[link.b].node;
    table.method[row] = method_of(link.method);
    table.n_bursts[row] = link.bursts;
    table.n_rejected[row] = link.rejected;
    table.n_sent[row] = link.sent;
    table.n_answered[row] = link.answered;
    table.floor_rtt_ns[row] = link.floor_rtt_ns;
    table.residual_ns[row] = link.residual_ns;
    table.residual_max_ns[row] = link.residual_max_ns;
    table.is_flagged[row] = link.is_flagged ? 1 : 0;
  }
  runfile::ClockBurstTable& bursts = run->clock_bursts;
  for (const clock::BurstInterval& burst : clocks.solution().bursts) {
    const std::size_t row = runfile::add_row(bursts);
    bursts.link[row] = burst.link;
    bursts.raw_ns[row] = burst.raw_ns;
    bursts.lo_ns[row] = burst.lo_ns;
    bursts.hi_ns[row] = burst.hi_ns;
    bursts.min_rtt_ns[row] = burst.min_rtt_ns;
    bursts.n_exchanges[row] = burst.exchanges;
    bursts.is_rejected[row] = burst.is_rejected ? 1 : 0;
  }
}

void fill_anchors(const RunSources& sources, RunTables* run) {
  runfile::ClockAnchorTable& table = run->clock_anchors;
  for (std::uint32_t node = 0; node < sources.nodes.size(); ++node) {
    std::vector<spool::ClockReading> readings;
    for (const SourceObserver& observer : sources.observers) {
      if (observer.node != node) continue;
      const auto own = clock_readings(observer.trace);
      readings.insert(readings.end(), own.begin(), own.end());
    }
    std::sort(readings.begin(), readings.end(), [](const auto& a, const auto& b) { return a.raw_ns < b.raw_ns; });
    for (std::size_t first = 0; first < readings.size();) {
      std::size_t best = first;
      std::size_t next = first;
      for (; next < readings.size() && readings[next].raw_ns - readings[first].raw_ns < kSecondNs; ++next) {
        if (readings[next].bracket_ns < readings[best].bracket_ns) best = next;
      }
      const std::size_t row = runfile::add_row(table);
      table.node[row] = node;
      table.raw_ns[row] = readings[best].raw_ns;
      table.wall_ns[row] = readings[best].wall_ns;
      table.monotonic_ns[row] = readings[best].monotonic_ns;
      table.bracket_ns[row] = readings[best].bracket_ns;
      first = next;
    }
  }
}

void fill_discipline(const RunSources& sources, RunTables* run) {
  runfile::ClockDisciplineTable& table = run->clock_discipline;
  for (const SourceObserver& observer : sources.observers) {  // by node and time
    for (const spool::ClockDisciplineState& told : observer.trace.clock().disciplines()) {
      const std::size_t row = runfile::add_row(table);
      table.node[row] = observer.node;
      table.raw_ns[row] = static_cast<std::int64_t>(told.stamp);
      table.status[row] = told.status;
      table.frequency_ppb[row] = told.frequency_ppb;
      table.offset_ns[row] = told.offset_ns;
      table.max_error_ns[row] = told.max_error_ns;
      table.estimated_error_ns[row] = told.estimated_error_ns;
      table.tai_offset_s[row] = told.tai_offset_s;
    }
  }
}

// The solver finds steps from dense readings; without models those that anchors show.
void fill_steps(const RunSources& sources, RunTables* run) {
  runfile::ClockStepTable& table = run->clock_steps;
  const RunClocks& clocks = sources.run_clocks;
  const auto add = [&table](std::uint32_t node, std::int64_t time_ns, std::int64_t size_ns,
                            runfile::ClockStepKind kind) {
    const std::size_t row = runfile::add_row(table);
    table.node[row] = node;
    table.time_ns[row] = time_ns;
    table.size_ns[row] = size_ns;
    table.kind[row] = kind;
  };
  for (const clock::ClockStep& step : clocks.solution().steps) {
    const std::uint32_t node = clocks.scales()[step.node].node;
    // A scale that no probes reached is of a node whose other one tells of the same wall clock.
    if (clocks.nodes()[node].scale < 0 || clocks.solution().nodes[step.node].knots.empty()) continue;
    add(node, clocks.axis_ns(step.node, step.raw_ns), step.size_ns, kind_of(step.kind));
  }
  for (const auto& [key, model] : sources.clocks) {
    const std::uint32_t node = sources.node_of_clock(key);
    if (clocks.nodes()[node].scale >= 0) continue;
    for (const clock::WallClockStep& step : model.steps()) {
      add(node, step.realtime_ns - step.size_ns, step.size_ns, runfile::ClockStepKind::kWallClockSet);
    }
  }
}

// ---- the run as a whole -------------------------------------------------------------------------------------------

// The two largest, together: no pair of nodes is worse. NaN if one is not known.
template <typename Join>
double worst_pair(const std::vector<double>& of_nodes, Join&& join) {
  double first = 0;
  double second = 0;
  for (const double value : of_nodes) {
    if (std::isnan(value)) return kUnknown;
    second = std::max(second, std::min(first, value));
    first = std::max(first, value);
  }
  return join(first, second);
}

void fill_attributes(RunTables* run) {
  const runfile::ClockNodeTable& nodes = run->clock_nodes;
  runfile::RunAttributes& to = run->attributes;
  if (nodes.node.size() < 2) return;
  std::string method;
  for (const runfile::ClockMethod own : nodes.method) {
    if (own == runfile::ClockMethod::kReference) continue;
    const bool is_wall = own == runfile::ClockMethod::kWallClock || own == runfile::ClockMethod::kWallClockUnknown;
    const std::string word = is_wall ? "wall_clock" : std::string(runfile::word(own));
    method = method.empty() || method == word ? word : "mixed";
  }
  to.clock_method = method;
  to.clock_bound_ns = worst_pair(nodes.bound_ns, [](double a, double b) { return a + b; });
  to.clock_sigma_ns = worst_pair(nodes.sigma_ns, [](double a, double b) { return std::hypot(a, b); });
}

void fill_audit(const RunSources& sources, RunTables* run) {
  if (sources.nodes.empty()) return;
  const RunClocks& clocks = sources.run_clocks;
  runfile::ClockAuditTable& table = run->clock_audit;
  const std::size_t row = runfile::add_row(table);
  table.reference[row] = clocks.reference_node();
  if (!clocks.has_models()) return;
  const clock::ClockSolution& solution = clocks.solution();
  table.loop_residual_p50_ns[row] = solution.loop_residual_p50_ns;
  table.loop_residual_p99_ns[row] = solution.loop_residual_p99_ns;
  table.loop_residual_max_ns[row] = solution.loop_residual_max_ns;
  table.n_contradictions[row] = solution.contradictions;
}

}  // namespace

void fill_clock_tables(const RunSources& sources, RunTables* run) {
  fill_clock_model(sources, run);
  fill_nodes(sources, run);
  fill_links(sources, run);
  fill_anchors(sources, run);
  fill_discipline(sources, run);
  fill_steps(sources, run);
  fill_attributes(run);
  fill_audit(sources, run);
}

}  // namespace jaxprof::assembly

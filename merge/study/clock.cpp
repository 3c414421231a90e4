#include "merge/study/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "merge/clock/clock_words.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kLinksShown = 5;

std::string host_of(const RunTables& run, std::uint32_t node) {
  return node < run.nodes.host.size() ? std::string(run.strings.text(run.nodes.host[node]))
                                      : fmt::format("node {}", node);
}

std::string text_of(const RunTables& run, StringId id) {
  return std::string(run.strings.text(id));
}

Cell text_cell(const std::string& text) {
  return text.empty() ? Cell{Missing{}} : Cell{text};
}

Cell real(double value) {
  return std::isnan(value) ? Cell{Missing{}} : Cell{value};
}

Cell whole(std::uint64_t value) {
  return value == kNoRow ? Cell{Missing{}} : Cell{static_cast<std::int64_t>(value)};
}

bool is_wall(ClockMethod method) {
  return method == ClockMethod::kWallClock || method == ClockMethod::kWallClockUnknown;
}

// What the links of a node say.
struct NodeLinks {
  double floor_ns = std::nan("");
  double residual_ns = std::nan("");
};

NodeLinks links_of(const RunTables& run, std::uint32_t node) {
  NodeLinks found;
  const ClockLinkTable& links = run.clock_links;
  for (std::size_t row = 0; row < links.a.size(); ++row) {
    if ((links.a[row] != node && links.b[row] != node) || links.n_bursts[row] == 0) continue;
    found.floor_ns = std::fmin(found.floor_ns, links.floor_rtt_ns[row]);
    found.residual_ns = std::fmax(found.residual_ns, std::abs(links.residual_ns[row]));
  }
  return found;
}

Row row_of(const RunTables& run, std::size_t i) {
  const ClockNodeTable& nodes = run.clock_nodes;
  const std::uint32_t node = nodes.node[i];
  const NodeLinks links = links_of(run, node);
  const bool has_lead = !is_wall(nodes.method[i]) && nodes.wall_offset_ns[i] != kNoPayload;
  return {host_of(run, node),
          std::string(word(nodes.method[i])),
          has_lead ? Cell{nodes.wall_offset_ns[i]} : Cell{Missing{}},
          real(nodes.drift_ppb[i] / 1e3),
          real(nodes.sigma_ns[i]),
          real(nodes.bound_ns[i]),
          real(nodes.drift_bound_ppb[i]),
          whole(nodes.n_bursts[i]),
          whole(nodes.n_exchanges[i]),
          whole(nodes.n_lost[i]),
          real(links.floor_ns),
          real(links.residual_ns),
          text_cell(text_of(run, nodes.interface[i])),
          text_cell(text_of(run, nodes.address[i])),
          text_cell(text_of(run, nodes.clocksource[i])),
          nodes.is_synchronized[i] == kNoByte ? Cell{Missing{}}
                                              : Cell{std::string(nodes.is_synchronized[i] == 1 ? "yes" : "no")},
          real(nodes.wall_bound_ns[i]),
          whole(nodes.n_refused[i]),
          nodes.cpu_ns[i] == kNoTime ? Cell{Missing{}} : Cell{nodes.cpu_ns[i]},
          text_cell(text_of(run, nodes.reason[i]))};
}

std::vector<Column> columns(const RunTables& run) {
  const auto& reasons = run.clock_nodes.reason;
  const bool hides_reasons =
      std::all_of(reasons.begin(), reasons.end(), [](StringId id) { return id == StringId::kEmpty; });
  return {{"node", "node"},
          {"method", "method"},
          {"wall_offset_ns", "wall clock", Unit::kTimeNs},
          {"drift_ppm", "drift ppm"},
          {"sigma_ns", "sigma", Unit::kTimeNs},
          {"bound_ns", "bound", Unit::kTimeNs},
          {"drift_bound_ppb", "drift bound ppb", Unit::kNone, true},
          {"bursts", "bursts"},
          {"exchanges", "exchanges", Unit::kNone, true},
          {"lost", "lost"},
          {"floor_rtt_ns", "floor rtt", Unit::kTimeNs},
          {"residual_ns", "residual", Unit::kTimeNs},
          {"interface", "interface", Unit::kNone, true},
          {"address", "address", Unit::kNone, true},
          {"clocksource", "clocksource", Unit::kNone, true},
          {"synchronized", "synchronized", Unit::kNone, true},
          {"wall_bound_ns", "kernel's bound", Unit::kTimeNs, true},
          {"refused", "refused", Unit::kNone, true},
          {"cpu_ns", "cpu", Unit::kTimeNs, true},
          {"reason", "reason", Unit::kNone, hides_reasons}};
}

std::string verdict_of(const RunTables& run) {
  const RunAttributes& a = run.attributes;
  if (run.clock_nodes.node.size() < 2) return "one node: all times are of one clock and compare exactly";
  std::size_t unknown = 0;
  for (const ClockMethod method : run.clock_nodes.method) unknown += method == ClockMethod::kWallClockUnknown ? 1 : 0;
  const std::size_t count = run.clock_nodes.node.size();
  if (unknown + 1 == count) return "times of different nodes cannot be compared: their clocks have no known bound";
  if (unknown > 0) {
    return fmt::format("times of {} of {} nodes cannot be compared with others: their clocks have no known bound",
                       unknown, count);
  }
  const std::string sigma = std::isnan(a.clock_sigma_ns)
                                ? ""
                                : fmt::format(" (likely error {})", jaxprof::clock::time_words(a.clock_sigma_ns));
  return fmt::format("times of different nodes compare within {}{}, by {}",
                     jaxprof::clock::time_words(a.clock_bound_ns), sigma,
                     a.clock_method == "wall_clock" ? "what the kernels say of their wall clocks" : "probes");
}

void add_link_notes(const RunTables& run, Table* table) {
  const ClockLinkTable& links = run.clock_links;
  std::vector<std::size_t> flagged;
  for (std::size_t row = 0; row < links.a.size(); ++row) {
    if (links.is_flagged[row] == 1) flagged.push_back(row);
  }
  std::sort(flagged.begin(), flagged.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(links.residual_ns[a]) > std::abs(links.residual_ns[b]);
  });
  for (std::size_t i = 0; i < std::min(flagged.size(), kLinksShown); ++i) {
    const std::size_t row = flagged[i];
    table->notes.push_back(fmt::format("finding: link {} <-> {} is asymmetric by {}", host_of(run, links.a[row]),
                                       host_of(run, links.b[row]),
                                       jaxprof::clock::time_words(2 * std::abs(links.residual_ns[row]))));
  }
  if (flagged.size() > kLinksShown) {
    table->notes.push_back(fmt::format("finding: and {} more links are asymmetric", flagged.size() - kLinksShown));
  }
}

void add_audit_notes(const RunTables& run, Table* table) {
  if (run.clock_audit.reference.empty()) return;
  const ClockAuditTable& audit = run.clock_audit;
  if (audit.n_contradictions[0] != kNoRow && audit.n_contradictions[0] > 0) {
    table->notes.push_back(fmt::format("finding: at {} times not all probes can be true", audit.n_contradictions[0]));
  }
  if (!std::isnan(audit.loop_residual_max_ns[0]) && audit.loop_residual_max_ns[0] > 0) {
    table->notes.push_back(fmt::format("links lie off the solution by {} (median), {} (p99), {} at most",
                                       jaxprof::clock::time_words(audit.loop_residual_p50_ns[0]),
                                       jaxprof::clock::time_words(audit.loop_residual_p99_ns[0]),
                                       jaxprof::clock::time_words(audit.loop_residual_max_ns[0])));
  }
  if (audit.n_instances[0] == kNoRow || audit.n_instances[0] == 0) return;
  if (audit.n_violations[0] == 0) {
    table->notes.push_back(fmt::format(
        "{} collectives over several nodes were held against the clocks: none ended before it began elsewhere",
        audit.n_instances[0]));
  } else {
    table->notes.push_back(fmt::format(
        "finding: {} members of {} collectives ended before another began, by up to {} too much, the worst on {} "
        "before {}",
        audit.n_violations[0], audit.n_instances[0],
        jaxprof::clock::time_words(static_cast<double>(audit.max_violation_ns[0])), host_of(run, audit.worst_early[0]),
        host_of(run, audit.worst_late[0])));
  }
}

void add_step_notes(const RunTables& run, Table* table) {
  const ClockStepTable& steps = run.clock_steps;
  for (std::size_t row = 0; row < steps.node.size(); ++row) {
    const std::string size = jaxprof::clock::time_words(static_cast<double>(steps.size_ns[row]));
    const std::string where = fmt::format("finding: {} at {:.1f} s: ", host_of(run, steps.node[row]),
                                          static_cast<double>(steps.time_ns[row]) / 1e9);
    switch (steps.kind[row]) {
      case ClockStepKind::kWallClockSet:
        table->notes.push_back(where + "its wall clock was set by " + size);
        break;
      case ClockStepKind::kClockSource:
        table->notes.push_back(where + "its kernel changed the counter by which it keeps time");
        break;
      case ClockStepKind::kRawJump:
        table->notes.push_back(where + "its raw clock jumped by " + size);
        break;
      case ClockStepKind::kMissing:
        break;
    }
  }
}

}  // namespace

bool clock_wants(std::string_view path) {
  return path == "/job/nodes" || path == "/clock/nodes" || path == "/clock/links" || path == "/clock/steps" ||
         path == "/clock/audit";
}

Table clock(const RunTables& run, const StudyOptions&) {
  Table table;
  table.study = kClock.name;
  table.columns = columns(run);
  for (std::size_t i = 0; i < run.clock_nodes.node.size(); ++i) table.rows.push_back(row_of(run, i));
  if (table.rows.empty()) {
    table.verdict = "nothing is known of the nodes' clocks";
    table.empty_reason = run.nodes.node.empty() ? "the run file has no node"
                                                : "the run file is of an older jaxprof: merge the run again";
    return table;
  }
  table.verdict = verdict_of(run);
  table.heading = "each node's clock against the axis, the worst of the run";
  add_link_notes(run, &table);
  add_step_notes(run, &table);
  add_audit_notes(run, &table);
  for (std::size_t i = 0; i < run.clock_nodes.node.size(); ++i) {
    if (run.clock_nodes.is_contradicted[i] == 1) {
      table.notes.push_back("finding: the probes of " + host_of(run, run.clock_nodes.node[i]) +
                            " cannot all be true; do not rely on its bound");
    }
  }
  table.notes.emplace_back("definitions: jaxprof-study clock --explain");
  return table;
}

}  // namespace jaxprof::study

#include "merge/assembly/clock_findings.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "merge/clock/clock_words.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;
using runfile::Severity;

// A network that loses more has something else to do, and probes that come back may be late ones.
constexpr double kManyLost = 0.2;

// Three periods of the probes; or half of a run that was long enough for some.
constexpr std::int64_t kLongGapNs = 30'000'000'000;
constexpr std::int64_t kShortRunNs = 10'000'000'000;

class ClockFindings {
 public:
  ClockFindings(const RunSources& sources, const RunTables& run, Diagnostics* diagnostics)
      : sources_(sources), run_(run), diagnostics_(diagnostics) {}

  void add_all() {
    collect_burst_times();
    for (std::uint32_t node = 0; node < sources_.nodes.size(); ++node) add_node(node);
    if (const std::uint64_t n = sources_.run_clocks.unknown_bursts(); n > 0) {
      diagnostics_->add(
          Severity::kInfo, "clock.unpaired", {}, n,
          counted(n, "burst") + " of probes could not be used: the other node left no readings of its clock");
    }
    for (std::size_t row = 0; row < runfile::n_rows(run_.clock_links); ++row) add_link(row);
    for (std::size_t row = 0; row < runfile::n_rows(run_.clock_steps); ++row) add_step(row);
    if (!run_.clock_audit.reference.empty()) add_audit();
  }

 private:
  // When the clock of each scale was compared with any other, on the axis.
  void collect_burst_times() {
    const clock::ClockSolution& solution = sources_.run_clocks.solution();
    burst_times_.resize(sources_.run_clocks.scales().size());
    for (const clock::BurstInterval& burst : solution.bursts) {
      const clock::LinkSolution& link = solution.links[burst.link];
      if (burst.is_rejected || solution.nodes[link.a].knots.empty()) continue;
      const std::int64_t time_ns = sources_.run_clocks.axis_ns(link.a, burst.raw_ns);
      burst_times_[link.a].push_back(time_ns);
      burst_times_[link.b].push_back(time_ns);
    }
  }

  // Did any node set out to compare clocks?
  bool was_asked_for() const {
    return std::any_of(sources_.observers.begin(), sources_.observers.end(),
                       [](const SourceObserver& observer) { return !observer.trace.clock().services().empty(); });
  }

  std::string host(std::uint32_t node) const { return sources_.nodes[node].host; }

  void add(Severity severity, const char* code, std::uint32_t node, std::uint64_t count, const std::string& text) {
    diagnostics_->add(severity, code, {runfile::kNoNumber, runfile::kNoIndex, node}, count, text);
  }

  void add_node(std::uint32_t node) {
    const runfile::ClockNodeTable& table = run_.clock_nodes;
    const std::string name = "node " + host(node) + ": ";
    const std::string reason(run_.strings.text(table.reason[node]));
    const std::string because = reason.empty() ? "" : ": " + reason;
    if (!was_asked_for()) {
      // Nobody wanted more than wall clocks, or an older jaxprof recorded: the merge's line on clocks is enough.
    } else if (table.method[node] == runfile::ClockMethod::kWallClockUnknown) {
      add(Severity::kWarning, "clock.unknown", node, 1,
          name + "its times cannot be compared with other nodes', for its clock was not compared" + because +
              ", and nobody vouches for the wall clocks");
    } else if (table.method[node] == runfile::ClockMethod::kWallClock) {
      add(Severity::kWarning, "clock.wall", node, 1,
          name + "its clock was not compared with other nodes'" + because +
              "; its times are as good as the wall clocks are, within " + clock::time_words(table.bound_ns[node]));
    }
    if (table.is_contradicted[node] == 1) {
      add(Severity::kWarning, "clock.contradiction", node, 1,
          name + "what probes say of its clock cannot all be true; do not rely on its bound");
    }
    add_losses(node, name);
    add_gap(node, name);
  }

  // The longest time without an answered burst, which the bound has grown over.
  void add_gap(std::uint32_t node, const std::string& name) {
    const runfile::ClockModelTable& model = run_.clock_model;
    const std::size_t first = run_.clock_model_offset[node];
    const std::size_t end = run_.clock_model_offset[node + 1];
    const std::int64_t scale = sources_.run_clocks.nodes()[node].scale;
    if (scale < 0 || node == sources_.run_clocks.reference_node() || first == end) return;
    std::vector<std::int64_t> times = burst_times_[static_cast<std::size_t>(scale)];
    times.push_back(model.time_ns[first]);
    times.push_back(model.time_ns[end - 1]);
    std::sort(times.begin(), times.end());
    std::int64_t gap_ns = 0;
    for (std::size_t i = 1; i < times.size(); ++i) gap_ns = std::max(gap_ns, times[i] - times[i - 1]);
    const std::int64_t span_ns = times.back() - times.front();
    if (gap_ns < kLongGapNs && (span_ns < kShortRunNs || gap_ns < span_ns / 2)) return;
    add(Severity::kWarning, "clock.gap", node, 1,
        name + "no probe of its clock was answered for " + clock::time_words(static_cast<double>(gap_ns)) +
            "; its times are known within " + clock::time_words(run_.clock_nodes.bound_ns[node]) + " at the worst");
  }

  void add_losses(std::uint32_t node, const std::string& name) {
    const runfile::ClockNodeTable& table = run_.clock_nodes;
    if (table.n_lost[node] != runfile::kNoRow && table.n_exchanges[node] != runfile::kNoRow) {
      const auto lost = static_cast<double>(table.n_lost[node]);
      const double all = lost + static_cast<double>(table.n_exchanges[node]);
      if (lost > kManyLost * all) {
        add(Severity::kInfo, "clock.lost", node, table.n_lost[node],
            name + std::to_string(table.n_lost[node]) + " of " + std::to_string(static_cast<std::uint64_t>(all)) +
                " probes were not answered");
      }
    }
    if (table.n_refused[node] != runfile::kNoRow && table.n_refused[node] > 0) {
      add(Severity::kInfo, "clock.strangers", node, table.n_refused[node],
          name + counted(table.n_refused[node], "packet") +
              " that came to the probes' port did not belong to the run, came twice or too often, and " +
              (table.n_refused[node] == 1 ? "was" : "were") + " dropped");
    }
  }

  void add_link(std::size_t row) {
    const runfile::ClockLinkTable& table = run_.clock_links;
    if (table.is_flagged[row] != 1) return;
    add(Severity::kInfo, "clock.flagged", table.a[row], 1,
        "link " + host(table.a[row]) + " <-> " + host(table.b[row]) + " disagrees with all others by " +
            clock::time_words(std::abs(table.residual_ns[row])) +
            ": its two ways take different times, by twice as much; it was given little weight");
  }

  void add_step(std::size_t row) {
    const runfile::ClockStepTable& table = run_.clock_steps;
    const std::uint32_t node = table.node[row];
    const std::string name = "node " + host(node) + ": ";
    switch (table.kind[row]) {
      case runfile::ClockStepKind::kWallClockSet: {
        const bool has_model = sources_.run_clocks.nodes()[node].scale >= 0;
        return add(Severity::kWarning, "clock.step", node, 1,
                   name + "the wall clock was set by " + std::to_string(table.size_ns[row]) + " ns during the run; " +
                       (has_model ? "times do not follow it" : "times keep the scale from before it"));
      }
      case runfile::ClockStepKind::kClockSource:
        return add(Severity::kWarning, "clock.source", node, 1,
                   name + "the kernel changed the counter by which it keeps time; times around that are in doubt");
      case runfile::ClockStepKind::kRawJump:
        return add(Severity::kWarning, "clock.jump", node, 1,
                   name + "the raw clock jumped by " + clock::time_words(static_cast<double>(table.size_ns[row])) +
                       " against other nodes'; times around that are in doubt");
      case runfile::ClockStepKind::kMissing:
        break;
    }
  }

  void add_audit() {
    const runfile::ClockAuditTable& table = run_.clock_audit;
    const std::uint64_t violations = table.n_violations[0];
    if (violations == runfile::kNoRow || violations == 0) return;
    add(Severity::kWarning, "clock.violation", table.worst_early[0], violations,
        counted(violations, "member") + " of collectives ended before another one began, which cannot be: by up to " +
            clock::time_words(static_cast<double>(table.max_violation_ns[0])) +
            " more than the clocks may be wrong, between " + host(table.worst_early[0]) + " and " +
            host(table.worst_late[0]) + "; do not compare times of these nodes");
  }

  const RunSources& sources_;
  const RunTables& run_;
  Diagnostics* diagnostics_;
  std::vector<std::vector<std::int64_t>> burst_times_;  // by scale
};

}  // namespace

void diagnose_clocks(const RunSources& sources, const RunTables& run, Diagnostics* diagnostics) {
  ClockFindings(sources, run, diagnostics).add_all();
}

}  // namespace jaxprof::assembly

#include "merge/assembly/clock_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "merge/assembly/run_time.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kPerBillion = 1e9;
constexpr std::int64_t kSecondNs = 1'000'000'000;

// What the anchors of events add to the error of a node's model.
double reading_error_ns(const RunSources& sources, std::uint32_t node) {
  double error_ns = 0;
  for (const SourceProcess& process : sources.processes) {
    if (process.node == node && process.clock != nullptr) {
      error_ns = std::max(error_ns, process.clock->reading_error_ns());
    }
  }
  return error_ns;
}

// One a second, and the last; rising.
std::vector<ModelKnot> thinned(std::vector<ModelKnot> knots) {
  std::sort(knots.begin(), knots.end(), [](const auto& a, const auto& b) { return a.raw_ns < b.raw_ns; });
  std::vector<ModelKnot> kept;
  for (const ModelKnot& knot : knots) {
    const bool is_due = kept.empty() || knot.raw_ns - kept.back().raw_ns >= kSecondNs;
    if (is_due && (kept.empty() || knot.time_ns > kept.back().time_ns)) kept.push_back(knot);
  }
  const bool is_last_new = !knots.empty() && knots.back().raw_ns > kept.back().raw_ns;
  if (is_last_new && knots.back().time_ns > kept.back().time_ns) kept.push_back(knots.back());
  return kept;
}

// A node without probes: as its observers' and processes' anchors have it.
std::vector<ModelKnot> wall_knots(const RunSources& sources, std::uint32_t node) {
  std::vector<ModelKnot> knots;
  for (const SourceObserver& observer : sources.observers) {
    if (observer.node != node || !observer.clock.is_valid()) continue;
    for (const spool::AnchorRecord& anchor : observer.trace.anchors()) {
      knots.push_back({anchor.monotonic_raw_ns, observer.clock.axis_ns(anchor.counter)});
    }
  }
  if (!knots.empty()) return thinned(std::move(knots));
  for (const SourceProcess& process : sources.processes) {
    if (process.node != node || process.clock == nullptr) continue;
    for (const spool::AnchorRecord& anchor : process.trace.anchors()) {
      knots.push_back({anchor.monotonic_raw_ns, process.clock->axis_ns(anchor.counter)});
    }
    break;  // another one may be in another time namespace
  }
  return thinned(std::move(knots));
}

std::size_t add_knot(const ModelKnot& knot, RunTables* run) {
  const std::size_t row = runfile::add_row(run->clock_model);
  run->clock_model.raw_ns[row] = knot.raw_ns;
  run->clock_model.time_ns[row] = knot.time_ns;
  return row;
}

// On the axis.
struct NodeSpan {
  std::int64_t first_ns = INT64_MAX;
  std::int64_t last_ns = INT64_MIN;

  bool is_empty() const { return first_ns > last_ns; }
  void include(std::int64_t time_ns) {
    first_ns = std::min(first_ns, time_ns);
    last_ns = std::max(last_ns, time_ns);
  }
};

// From the first reading of a clock on the node to the last, its processes' and its observers'.
NodeSpan node_span(const RunSources& sources, std::uint32_t node) {
  NodeSpan span;
  for (const SourceProcess& process : sources.processes) {
    const auto recorded = process.node == node ? recorded_span(process) : std::nullopt;
    if (!recorded) continue;
    span.include(recorded->first_ns);
    span.include(recorded->last_ns);
  }
  for (const SourceObserver& observer : sources.observers) {
    if (observer.node != node || !observer.clock.is_valid()) continue;
    for (const spool::AnchorRecord& anchor : observer.trace.anchors()) {
      span.include(observer.clock.axis_ns(anchor.counter));
    }
  }
  return span;
}

// Knots at `first_raw_ns` and `last_raw_ns` too, where the model goes on beyond its probes and less and less is known;
// as far apart as they can be, since they are rounded to whole ns.
void extend(std::int64_t first_raw_ns, std::int64_t last_raw_ns, const clock::NodeSolution& solved,
            std::vector<clock::ClockKnot>* knots) {
  const auto knot_at = [&solved](std::int64_t raw_ns) {
    const clock::ClockError error = clock::error_at(solved, raw_ns);
    clock::ClockKnot knot;
    knot.raw_ns = raw_ns;
    knot.sigma_ns = error.sigma_ns;
    knot.hard_lo_ns = error.hard_lo_ns;
    knot.hard_hi_ns = error.hard_hi_ns;
    return knot;
  };
  if (first_raw_ns < knots->front().raw_ns) knots->insert(knots->begin(), knot_at(first_raw_ns));
  if (last_raw_ns > knots->back().raw_ns) knots->push_back(knot_at(last_raw_ns));
  // The reference needs one line, and what is between its ends would only be rounded once more.
  if (solved.knots.size() == 1 && solved.drift_bound == 0 && knots->size() == 3) knots->erase(knots->begin() + 1);
}

void add_solved_knots(const RunSources& sources, std::uint32_t node, RunTables* run) {
  const RunClocks& clocks = sources.run_clocks;
  const auto scale = static_cast<std::size_t>(clocks.nodes()[node].scale);
  const double reading_ns = reading_error_ns(sources, node);
  const clock::NodeSolution& solved = clocks.solution().nodes[scale];
  std::vector<clock::ClockKnot> knots = solved.knots;
  const NodeSpan span = node_span(sources, node);
  if (!span.is_empty()) {
    extend(clocks.raw_ns(scale, span.first_ns), clocks.raw_ns(scale, span.last_ns), solved, &knots);
  }
  // A line takes two.
  if (knots.size() == 1) extend(knots.front().raw_ns, knots.front().raw_ns + kSecondNs, solved, &knots);
  for (const clock::ClockKnot& knot : knots) {
    const std::size_t row = add_knot({knot.raw_ns, clocks.axis_ns(scale, knot.raw_ns)}, run);
    run->clock_model.sigma_ns[row] = std::hypot(knot.sigma_ns, reading_ns / 3);
    run->clock_model.hard_lo_ns[row] = knot.hard_lo_ns - reading_ns;
    run->clock_model.hard_hi_ns[row] = knot.hard_hi_ns + reading_ns;
  }
}

void add_wall_knots(const RunSources& sources, std::uint32_t node, RunTables* run) {
  const NodeAlignment& alignment = sources.run_clocks.nodes()[node];
  const bool is_reference = alignment.method == clock::Method::kReference;
  const double bound_ns = is_reference ? 0 : alignment.bound_ns + reading_error_ns(sources, node);
  for (const ModelKnot& knot : wall_knots(sources, node)) {
    const std::size_t row = add_knot(knot, run);
    run->clock_model.sigma_ns[row] = is_reference ? 0 : kUnknown;
    run->clock_model.hard_lo_ns[row] = 0 - bound_ns;  // no negative zero
    run->clock_model.hard_hi_ns[row] = bound_ns;
  }
}

}  // namespace

double slope_ppb(const ModelKnot& from, const ModelKnot& to) {
  const std::int64_t span_ns = to.raw_ns - from.raw_ns;
  if (span_ns <= 0) return kUnknown;
  return static_cast<double>(to.time_ns - from.time_ns - span_ns) / static_cast<double>(span_ns) * kPerBillion;
}

void fill_clock_model(const RunSources& sources, RunTables* run) {
  runfile::ClockModelTable& model = run->clock_model;
  for (std::uint32_t node = 0; node < sources.nodes.size(); ++node) {
    const std::size_t first = model.raw_ns.size();
    if (sources.run_clocks.nodes()[node].scale >= 0) {
      add_solved_knots(sources, node, run);
    } else {
      add_wall_knots(sources, node, run);
    }
    for (std::size_t row = first; row < model.raw_ns.size(); ++row) {
      const std::size_t from = row + 1 < model.raw_ns.size() || row == first ? row : row - 1;
      if (from + 1 >= model.raw_ns.size()) continue;
      model.frequency_ppb[row] =
          slope_ppb({model.raw_ns[from], model.time_ns[from]}, {model.raw_ns[from + 1], model.time_ns[from + 1]});
    }
    run->clock_model_offset.push_back(model.raw_ns.size());
  }
}

}  // namespace jaxprof::assembly

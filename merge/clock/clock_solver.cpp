#include "merge/clock/clock_solver.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "merge/clock/eras.h"
#include "merge/clock/exchange_times.h"
#include "merge/clock/hard_bounds.h"
#include "merge/clock/link_summary.h"
#include "merge/clock/node_knots.h"
#include "merge/clock/rounding.h"

namespace jaxprof::clock {

struct ClockSolver::State {
  std::uint32_t node_count = 0;
  std::vector<WallScale> scales;                // by node
  std::vector<std::int64_t> first_readings_ns;  // by node; 0: none
  std::vector<SourceChange> changes;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number_of_link;  // by its nodes, the lesser first
  std::vector<ProbeLink> links;
  bool is_in_order = true;

  void put_in_order() {
    if (is_in_order) return;
    for (ProbeLink& link : links) link.put_in_order();
    // Whatever came first: links by their nodes.
    std::vector<ProbeLink> sorted;
    sorted.reserve(links.size());
    for (auto& [nodes, number] : number_of_link) {
      sorted.push_back(std::move(links[number]));
      number = static_cast<std::uint32_t>(sorted.size() - 1);
    }
    links = std::move(sorted);
    is_in_order = true;
  }
};

ClockSolver::ClockSolver(std::uint32_t node_count) : state_(std::make_unique<State>()) {
  state_->node_count = node_count;
  state_->scales.resize(node_count);
  state_->first_readings_ns.resize(node_count);
}
ClockSolver::~ClockSolver() = default;
ClockSolver::ClockSolver(ClockSolver&&) noexcept = default;
ClockSolver& ClockSolver::operator=(ClockSolver&&) noexcept = default;

void ClockSolver::set_readings(std::uint32_t node, std::span<const spool::ClockReading> readings) {
  state_->scales[node] = WallScale::fit(readings);
  std::int64_t first_ns = kFarthestNs;
  for (const spool::ClockReading& reading : readings) {
    if (is_plausible_raw(reading.raw_ns)) first_ns = std::min(first_ns, reading.raw_ns);
  }
  state_->first_readings_ns[node] = first_ns == kFarthestNs ? 0 : first_ns;
}

void ClockSolver::note_clock_source_change(std::uint32_t node, std::int64_t raw_ns) {
  if (is_plausible_raw(raw_ns)) state_->changes.push_back({node, raw_ns});
}

void ClockSolver::add_burst(std::uint32_t client, std::uint32_t server, const spool::ProbeBurst& burst) {
  if (client == server) return;
  const std::uint32_t a = std::min(client, server);
  const std::uint32_t b = std::max(client, server);
  const auto [at, is_new] =
      state_->number_of_link.try_emplace({a, b}, static_cast<std::uint32_t>(state_->links.size()));
  if (is_new) state_->links.emplace_back(a, b);
  state_->is_in_order = false;
  ProbeLink& link = state_->links[at->second];
  link.count(std::max<std::uint64_t>(burst.sent, burst.exchanges.size()), burst.exchanges.size());

  ExchangeEnds ends{.client = &state_->scales[client], .server = &state_->scales[server], .is_client_a = client == a};
  std::vector<ExchangeTimes> times;
  times.reserve(burst.exchanges.size());
  for (const spool::ProbeExchange& exchange : burst.exchanges) {
    if (const auto found = exchange_times(exchange, &ends)) times.push_back(*found);
  }
  const auto is_before = [](const ExchangeTimes& x, const ExchangeTimes& y) {
    return std::tie(x.from_a.a_ns, x.from_a.b_ns, x.from_b.a_ns, x.from_b.b_ns, x.is_kernel) <
           std::tie(y.from_a.a_ns, y.from_a.b_ns, y.from_b.a_ns, y.from_b.b_ns, y.is_kernel);
  };
  if (!std::is_sorted(times.begin(), times.end(), is_before)) std::sort(times.begin(), times.end(), is_before);
  if (!burst.exchanges.empty() && !link.add(times, burst.burst, client == a)) link.count_rejected();
}

namespace {

// As well as links tell the size of a jump.
constexpr double kSameSizeNs = 20'000;
constexpr double kSameSizeShare = 0.05;
constexpr std::int64_t kReadingsApartNs = 2'000'000'000;  // on a busy machine

// Cuts by node.
std::vector<std::vector<NodeCut>> cuts_by_node(std::uint32_t node_count, const std::vector<NodeCut>& cuts) {
  std::vector<std::vector<NodeCut>> by_node(node_count);
  for (const NodeCut& cut : cuts) by_node[cut.node].push_back(cut);
  return by_node;
}

// A raw clock that jumps makes the wall clock look as if it had been set the other way. The step is between two
// readings, of which it has the later one's time.
bool is_explained(std::uint32_t node, const WallScale::Step& step, const std::vector<NodeCut>& cuts) {
  return std::any_of(cuts.begin(), cuts.end(), [&](const NodeCut& cut) {
    const double together_ns = static_cast<double>(step.size_ns) + cut.size_ns;
    return cut.node == node && cut.is_own && cut.before_ns <= step.raw_ns &&
           step.raw_ns - kReadingsApartNs <= cut.after_ns &&
           std::abs(together_ns) <= kSameSizeNs + kSameSizeShare * std::abs(cut.size_ns);
  });
}

std::vector<ClockStep> list_steps(const std::vector<WallScale>& scales, const std::vector<NodeCut>& cuts) {
  std::vector<ClockStep> steps;
  for (std::uint32_t node = 0; node < scales.size(); ++node) {
    for (const WallScale::Step& step : scales[node].steps()) {
      if (is_explained(node, step, cuts)) continue;
      steps.push_back({node, step.raw_ns, step.size_ns, StepKind::kWallClockSet});
    }
  }
  for (const NodeCut& cut : cuts) {
    if (cut.is_own) steps.push_back({cut.node, cut.after_ns, round_ns(cut.size_ns), cut.kind});
  }
  std::sort(steps.begin(), steps.end(), [](const ClockStep& x, const ClockStep& y) {
    return std::tie(x.node, x.raw_ns, x.kind) < std::tie(y.node, y.raw_ns, y.kind);
  });
  return steps;
}

}  // namespace

ClockSolution ClockSolver::solve(std::uint32_t reference) const {
  state_->put_in_order();
  const std::vector<ProbeLink>& links = state_->links;
  const std::uint32_t node_count = state_->node_count;

  // What jumped, and when.
  std::vector<LinkJumps> jumps;
  jumps.reserve(links.size());
  for (const ProbeLink& link : links) jumps.push_back(find_jumps(link, state_->changes));
  const std::vector<NodeCut> cuts = find_cuts(node_count, reference, links, jumps, state_->changes);
  const std::vector<std::vector<NodeCut>> cuts_of = cuts_by_node(node_count, cuts);
  Eras eras = divide(node_count, links, jumps, cuts);

  // The axis: the reference's clock, from the first burst with it on.
  std::int64_t zero_ns = kFarthestNs;
  for (const ProbeLink& link : links) {
    if (link.bursts().empty() || (link.a() != reference && link.b() != reference)) continue;
    const LinkBurst& first = link.bursts().front();
    zero_ns = std::min(zero_ns, hold_ns(link.a() == reference ? first.a_ns : first.a_ns + first.base_ns));
  }
  if (zero_ns == kFarthestNs) zero_ns = state_->first_readings_ns[reference];
  std::vector<CoarseClock> clocks(eras.size());
  std::vector<bool> is_fixed(eras.size(), false);
  for (std::uint32_t era = eras.first[reference]; era < eras.first[reference + 1]; ++era) {
    clocks[era] = {zero_ns, 0, 1, true};
    is_fixed[era] = true;
  }
  fit_coarse_clocks(links, eras.edges, &clocks);

  // What is likely, and what must be.
  const EraModel model = fit_model(links, eras.edges, clocks, is_fixed);
  const HardBounds bounds = find_bounds(links, eras.edges, clocks, is_fixed, model);
  for (std::size_t e = 0; e < eras.edges.size(); ++e) {
    for (const std::uint32_t bad : bounds.bad_bursts[e]) eras.is_rejected[eras.edges[e].link][bad] = true;
  }

  ClockSolution solution;
  solution.reference = reference;
  solution.nodes.resize(node_count);
  const SolvedEras solved{&eras, &clocks, &model, &bounds, zero_ns};
  for (std::uint32_t node = 0; node < node_count; ++node) {
    NodeSolution& to = solution.nodes[node];
    if (node == reference) {
      to.knots = {{.raw_ns = zero_ns}};
      continue;
    }
    to.knots = node_knots(solved, node, cuts_of[node]);
    for (const NodeCut& cut : cuts_of[node]) to.holes.push_back({cut.before_ns, cut.after_ns});
    for (std::uint32_t era = eras.first[node]; era < eras.first[node + 1]; ++era) {
      to.drift_bound = std::max(to.drift_bound, model.eras[era].drift);
      to.is_contradicted = to.is_contradicted || bounds.is_contradicted[era];
    }
  }
  summarize_links(links, eras, model, &solution);
  solution.steps = list_steps(state_->scales, cuts);
  solution.loop_residual_p50_ns = model.loop_residual_p50_ns;
  solution.loop_residual_p99_ns = model.loop_residual_p99_ns;
  solution.loop_residual_max_ns = model.loop_residual_max_ns;
  solution.contradictions = bounds.contradictions;
  return solution;
}

}  // namespace jaxprof::clock

#include "merge/assembly/run_clocks.h"

#include <sys/timex.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "merge/assembly/run_sources.h"
#include "merge/clock/axis_clock.h"
#include "merge/clock/clock_solver.h"
#include "merge/clock/rounding.h"

namespace jaxprof::assembly {
namespace {

using spool::IdentityKey;
using Link = std::pair<std::uint32_t, std::uint32_t>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// The kernel slews by no more (adjtimex(2)); a wall clock that is off by more over a whole run was set.
constexpr double kMaxRate = 500e-6;
// A slope over less is mostly noise of the readings.
constexpr std::int64_t kShortestSlopeNs = 1'000'000'000;

std::vector<spool::AnchorRecord> anchors_of(const std::vector<spool::ClockReading>& readings) {
  std::vector<spool::AnchorRecord> anchors;
  anchors.reserve(readings.size());
  for (const spool::ClockReading& reading : readings) {
    anchors.push_back({static_cast<std::uint64_t>(reading.raw_ns), reading.raw_ns, reading.wall_ns,
                       reading.monotonic_ns, reading.bracket_ns});
  }
  return anchors;
}

// The root of a set of scales that links join.
std::uint32_t root_of(std::vector<std::uint32_t>* parent, std::uint32_t scale) {
  while ((*parent)[scale] != scale) scale = (*parent)[scale] = (*parent)[(*parent)[scale]];
  return scale;
}

// How many scales each one can be compared with, itself included, directly or over others.
std::vector<std::size_t> reach_of(std::size_t scale_count, const std::vector<Link>& links) {
  std::vector<std::uint32_t> parent(scale_count);
  std::iota(parent.begin(), parent.end(), 0U);
  for (const auto& [a, b] : links) parent[root_of(&parent, a)] = root_of(&parent, b);
  std::vector<std::size_t> size(scale_count);
  for (std::uint32_t i = 0; i < scale_count; ++i) ++size[root_of(&parent, i)];
  std::vector<std::size_t> reach(scale_count);
  for (std::uint32_t i = 0; i < scale_count; ++i) reach[i] = size[root_of(&parent, i)];
  return reach;
}

// Where the kernel's clock source changed from one record to the next, the last stamp before that.
void note_source_changes(const rundir::NodeTrace& trace, std::uint32_t scale, clock::ClockSolver* solver) {
  const auto& services = trace.clock().services();
  for (std::size_t i = 1; i < services.size(); ++i) {
    const std::string& now = services[i].clocksource;
    const bool is_change = !now.empty() && !services[i - 1].clocksource.empty() && now != services[i - 1].clocksource;
    if (is_change) solver->note_clock_source_change(scale, static_cast<std::int64_t>(services[i].state.stamp));
  }
}

// It took part, and saw nobody.
bool found_nobody(const rundir::NodeTrace* last) {
  if (last == nullptr || last->clock().services().empty()) return false;
  return last->clock().services().back().reason.empty() && last->clock().peers().empty();
}

std::string why_no_probes(const rundir::NodeTrace* last) {
  if (last == nullptr) return "it had no observer";
  const auto& services = last->clock().services();
  if (services.empty()) return "its observer was not to compare clocks (--clock off), or is of an older jaxprof";
  if (!services.back().reason.empty()) return services.back().reason;
  return last->clock().peers().empty() ? "its observer found no other node's" : "no other node answered its probes";
}

}  // namespace

// With those that it took for its samples: an observer without probes has no others.
std::vector<spool::ClockReading> clock_readings(const rundir::NodeTrace& trace) {
  std::vector<spool::ClockReading> readings;
  trace.clock().for_each({[&](const spool::ClockReading& reading) { readings.push_back(reading); }, nullptr});
  for (const spool::AnchorRecord& anchor : trace.anchors()) {
    const auto bracket = static_cast<std::uint32_t>(std::min<std::uint64_t>(anchor.bracket, UINT32_MAX));
    readings.push_back({anchor.monotonic_raw_ns, anchor.realtime_ns, anchor.monotonic_ns, bracket});
  }
  return readings;
}

RunClocks::RunClocks(const std::vector<SourceObserver>& observers, const std::vector<SourceNode>& nodes)
    : nodes_(nodes.size()), care_(nodes.size()) {
  read_care(observers);
  collect_scales(observers);
  if (nodes.size() > 1) solve(observers);
  align_nodes(observers);
}

void RunClocks::read_care(const std::vector<SourceObserver>& observers) {
  for (const SourceObserver& observer : observers) {
    for (const spool::ClockDisciplineState& told : observer.trace.clock().disciplines()) {
      WallClockCare& care = care_[observer.node];
      const bool is_synchronized = (told.status & STA_UNSYNC) == 0;
      care.is_synchronized = is_synchronized && (care.is_synchronized || !care.is_known);
      care.bound_ns = std::max(care.bound_ns, static_cast<double>(told.max_error_ns));
      care.is_known = true;
    }
  }
}

void RunClocks::collect_scales(const std::vector<SourceObserver>& observers) {
  for (std::size_t i = 0; i < observers.size(); ++i) {
    const SourceObserver& observer = observers[i];
    const spool::SpoolIdentity& id = observer.trace.identity();
    const std::int64_t time_namespace = id.number(IdentityKey::kTimeNamespace);
    auto found = std::find_if(scales_.begin(), scales_.end(), [&](const ClockScale& scale) {
      return scale.node == observer.node && scale.time_namespace == time_namespace;
    });
    if (found == scales_.end()) found = scales_.insert(scales_.end(), {observer.node, time_namespace, {}});
    found->observers.push_back(i);
    const auto scale = static_cast<std::uint32_t>(found - scales_.begin());
    const std::string boot_id = id.text(IdentityKey::kBootId);
    scale_of_boot_.try_emplace(boot_id, scale);
    for (const rundir::ClockService& service : observer.trace.clock().services()) {
      scale_of_endpoint_[{boot_id, service.state.network_namespace}] = scale;
    }
  }
}

std::int64_t RunClocks::scale_of_peer(const rundir::ClockPeer& peer) const {
  const auto endpoint = scale_of_endpoint_.find({peer.boot_id, peer.state.network_namespace});
  if (endpoint != scale_of_endpoint_.end()) return endpoint->second;
  const auto boot = scale_of_boot_.find(peer.boot_id);
  return boot != scale_of_boot_.end() ? std::int64_t{boot->second} : -1;
}

void RunClocks::solve(const std::vector<SourceObserver>& observers) {
  clock::ClockSolver solver(static_cast<std::uint32_t>(scales_.size()));
  for (std::uint32_t scale = 0; scale < scales_.size(); ++scale) {
    std::vector<spool::ClockReading> readings;
    for (const std::size_t observer : scales_[scale].observers) {
      const auto own = clock_readings(observers[observer].trace);
      readings.insert(readings.end(), own.begin(), own.end());
      note_source_changes(observers[observer].trace, scale, &solver);
    }
    solver.set_readings(scale, readings);
  }
  std::vector<Link> links;
  for (std::uint32_t scale = 0; scale < scales_.size(); ++scale) {
    for (const std::size_t observer : scales_[scale].observers) {
      const rundir::ClockRecords& clock = observers[observer].trace.clock();
      clock.for_each({nullptr, [&](const spool::ProbeBurst& burst) {
                        const auto peer = clock.peers().find(burst.peer);
                        const std::int64_t server = peer != clock.peers().end() ? scale_of_peer(peer->second) : -1;
                        if (server < 0) {
                          ++unknown_bursts_;
                        } else if (scales_[static_cast<std::size_t>(server)].node != scales_[scale].node) {
                          solver.add_burst(scale, static_cast<std::uint32_t>(server), burst);
                          if (!burst.exchanges.empty()) links.emplace_back(scale, static_cast<std::uint32_t>(server));
                        }
                      }});
    }
  }
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
  if (scales_.empty()) return;
  solution_ = solver.solve(choose_reference(observers, links));
  const auto with_model = std::count_if(solution_.nodes.begin(), solution_.nodes.end(),
                                        [](const clock::NodeSolution& node) { return !node.knots.empty(); });
  has_models_ = with_model > 1;
  if (!has_models_) return;
  reference_node_ = scales_[solution_.reference].node;
  set_axis(observers);
}

// Of the scales from which the most others can be reached: rank 0's, else the one of the lowest rank.
std::uint32_t RunClocks::choose_reference(const std::vector<SourceObserver>& observers,
                                          const std::vector<Link>& links) const {
  const std::vector<std::size_t> reach = reach_of(scales_.size(), links);
  const std::size_t most = *std::max_element(reach.begin(), reach.end());
  std::uint32_t chosen = UINT32_MAX;
  for (std::uint32_t scale = 0; scale < scales_.size(); ++scale) {
    if (reach[scale] < most) continue;
    if (chosen == UINT32_MAX || scales_[scale].node < scales_[chosen].node) chosen = scale;
    const auto is_named = [&](std::size_t observer) {
      const auto& services = observers[observer].trace.clock().services();
      return std::any_of(services.begin(), services.end(), [](const auto& s) { return s.state.is_reference != 0; });
    };
    const auto& own = scales_[scale].observers;
    if (std::any_of(own.begin(), own.end(), is_named)) return scale;
  }
  return chosen;
}

void RunClocks::set_axis(const std::vector<SourceObserver>& observers) {
  std::vector<spool::ClockReading> readings;
  for (const std::size_t observer : scales_[solution_.reference].observers) {
    const auto own = clock_readings(observers[observer].trace);
    readings.insert(readings.end(), own.begin(), own.end());
  }
  const clock::AxisClock wall = clock::AxisClock::fit(anchors_of(readings));
  if (!wall.is_valid()) return;
  const auto& first = wall.knots().front();
  const auto& last = wall.knots().back();
  origin_raw_ns_ = static_cast<std::int64_t>(first.counter);
  origin_axis_ns_ = first.axis_ns;
  const auto span_ns = static_cast<std::int64_t>(last.counter - first.counter);
  if (span_ns < kShortestSlopeNs) return;
  const std::int64_t gain_ns = (last.axis_ns - first.axis_ns) - span_ns;
  rate_ = std::clamp(static_cast<double>(gain_ns) / static_cast<double>(span_ns), -kMaxRate, kMaxRate);
}

std::int64_t RunClocks::axis_ns(std::size_t scale, std::int64_t raw_ns) const {
  const std::int64_t reference_ns = clock::reference_raw_ns(solution_.nodes[scale], raw_ns);
  const std::int64_t elapsed_ns = clock::hold_ns(reference_ns - origin_raw_ns_);
  const std::int64_t axis_ns = origin_axis_ns_ + elapsed_ns + clock::round_ns(rate_ * static_cast<double>(elapsed_ns));
  return std::clamp(axis_ns, std::int64_t{0}, clock::kLastWallNs);
}

std::int64_t RunClocks::raw_ns(std::size_t scale, std::int64_t axis_ns) const {
  const std::int64_t gain_ns = clock::hold_ns(axis_ns - origin_axis_ns_);
  const std::int64_t elapsed_ns = gain_ns - clock::round_ns(rate_ / (1 + rate_) * static_cast<double>(gain_ns));
  const std::int64_t reference_ns = clock::hold_ns(origin_raw_ns_ + elapsed_ns);
  return clock::hold_ns(clock::node_raw_ns(solution_.nodes[scale], reference_ns));
}

void RunClocks::align_nodes(const std::vector<SourceObserver>& observers) {
  std::vector<const rundir::NodeTrace*> last_observer(nodes_.size());
  for (const SourceObserver& observer : observers) last_observer[observer.node] = &observer.trace;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    NodeAlignment& alignment = nodes_[node];
    for (std::size_t scale = 0; has_models_ && scale < scales_.size() && alignment.scale < 0; ++scale) {
      const bool has_model = scales_[scale].node == node && !solution_.nodes[scale].knots.empty();
      if (has_model) alignment.scale = static_cast<std::int64_t>(scale);
    }
    if (node == reference_node_) {
      alignment.method = clock::Method::kReference;
      if (!has_models_ && nodes_.size() > 1) alignment.reason = why_no_probes(last_observer[node]);
    } else if (alignment.scale >= 0) {
      alignment.method = solution_.nodes[static_cast<std::size_t>(alignment.scale)].method;
    } else {
      const bool is_bounded = care_[node].is_synchronized && care_[reference_node_].is_synchronized;
      alignment.method = is_bounded ? clock::Method::kWallClock : clock::Method::kWallClockUnknown;
      alignment.bound_ns = is_bounded ? care_[node].bound_ns + care_[reference_node_].bound_ns : kUnknown;
      alignment.reason = why_no_probes(last_observer[node]);
      // Nobody finds a reference that does not take part: then that is the cause, whatever it looks like from here.
      const rundir::NodeTrace* reference = last_observer[reference_node_];
      if (!has_models_ && found_nobody(last_observer[node]) && !found_nobody(reference)) {
        alignment.reason = "the reference took no part: " + why_no_probes(reference);
      }
    }
    if (alignment.scale < 0 || last_observer[node] == nullptr) continue;
    const auto& anchors = last_observer[node]->anchors();
    if (anchors.empty()) continue;
    const spool::AnchorRecord& middle = anchors[anchors.size() / 2];
    alignment.wall_lead_ns =
        middle.realtime_ns - axis_ns(static_cast<std::size_t>(alignment.scale), middle.monotonic_raw_ns);
  }
}

std::int64_t RunClocks::scale_of(std::uint32_t node, std::int64_t time_namespace) const {
  if (!has_models_ || node >= nodes_.size() || nodes_[node].scale < 0) return -1;
  for (std::size_t scale = 0; scale < scales_.size(); ++scale) {
    const bool is_own = scales_[scale].node == node && scales_[scale].time_namespace == time_namespace;
    if (is_own && !solution_.nodes[scale].knots.empty()) return static_cast<std::int64_t>(scale);
  }
  return nodes_[node].scale;
}

}  // namespace jaxprof::assembly

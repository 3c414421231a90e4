#include "merge/clock/link_summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "merge/clock/median.h"
#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

constexpr double kNoise = 6;               // spreads of all links' residuals
constexpr double kNoiseFloorNs = 200;      // and at least this, plus
constexpr double kNoiseFloorShare = 0.05;  // … of the link's round trip
constexpr std::uint64_t kLeastBursts = 3;  // nodes that meet may ask each other once or twice and then draw others
constexpr std::uint32_t kLeastLinks = 3;   // of both nodes: on a single loop nobody knows which link it is

// Kernel stamps if most bursts of either direction that there is have them.
Method method_of(const ProbeLink& link) {
  std::array<std::size_t, 2> bursts{};
  std::array<std::size_t, 2> kernel{};
  for (const LinkBurst& burst : link.bursts()) {
    ++bursts[burst.is_from_a ? 0 : 1];
    if (burst.is_kernel) ++kernel[burst.is_from_a ? 0 : 1];
  }
  const bool is_kernel = 2 * kernel[0] >= bursts[0] && 2 * kernel[1] >= bursts[1] && !link.bursts().empty();
  return is_kernel ? Method::kKernelStamps : Method::kUserStamps;
}

void list_bursts(const ProbeLink& link, std::uint32_t number, const std::vector<double>& rates,
                 const std::vector<bool>& is_rejected, std::vector<BurstInterval>* to) {
  for (std::size_t i = 0; i < link.bursts().size(); ++i) {
    const LinkBurst& burst = link.bursts()[i];
    const Interval interval = link.interval(burst, rates[i]);
    to->push_back({.link = number,
                   .raw_ns = burst.a_ns,
                   .lo_ns = burst.base_ns + round_ns(std::floor(interval.lo)),
                   .hi_ns = burst.base_ns + round_ns(std::ceil(interval.hi)),
                   .min_rtt_ns = burst.min_rtt_ns,
                   .exchanges = burst.exchanges,
                   .is_rejected = is_rejected[i]});
  }
}

void flag_links(std::vector<LinkSolution>* links, std::size_t node_count) {
  std::vector<std::uint32_t> links_of(node_count, 0);
  std::vector<double> residuals;
  for (const LinkSolution& link : *links) {
    if (link.bursts == 0) continue;
    ++links_of[link.a];
    ++links_of[link.b];
    residuals.push_back(std::abs(link.residual_ns));
  }
  const double spread_ns = 1.4826 * median(&residuals);
  for (LinkSolution& link : *links) {
    const double noise_ns = std::max(kNoise * spread_ns, kNoiseFloorNs + kNoiseFloorShare * link.floor_rtt_ns);
    link.is_flagged = link.bursts >= kLeastBursts && std::abs(link.residual_ns) > noise_ns &&
                      links_of[link.a] >= kLeastLinks && links_of[link.b] >= kLeastLinks;
  }
}

// A node's stamps are as good as the worst link on its best path to the reference.
void set_methods(ClockSolution* solution) {
  std::vector<bool> is_reached(solution->nodes.size(), false);
  solution->nodes[solution->reference].method = Method::kReference;
  is_reached[solution->reference] = true;
  for (const Method method : {Method::kKernelStamps, Method::kUserStamps}) {
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (const LinkSolution& link : solution->links) {
        if (link.bursts == 0 || link.method > method || is_reached[link.a] == is_reached[link.b]) continue;
        const std::uint32_t node = is_reached[link.a] ? link.b : link.a;
        is_reached[node] = is_changed = true;
        if (!solution->nodes[node].knots.empty()) solution->nodes[node].method = method;
      }
    }
  }
}

}  // namespace

void summarize_links(const std::vector<ProbeLink>& links, const Eras& eras, const EraModel& model,
                     ClockSolution* solution) {
  std::size_t burst_count = 0;
  for (const ProbeLink& link : links) burst_count += link.bursts().size();
  solution->bursts.reserve(burst_count);
  std::size_t edge = 0;
  std::vector<double> rates;
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    const ProbeLink& link = links[l];
    LinkSolution to{.a = link.a(), .b = link.b(), .method = method_of(link)};
    to.rejected = link.rejected();
    to.sent = link.sent();
    to.answered = link.answered();
    // Of several eras the longest stands for the link.
    rates.assign(link.bursts().size(), 0);
    std::size_t most = 0;
    for (; edge < eras.edges.size() && eras.edges[edge].link == l; ++edge) {
      const EdgeTrack& track = model.edges[edge];
      for (const std::uint32_t index : eras.edges[edge].bursts) rates[index] = track.rate;
      to.residual_max_ns = std::max(to.residual_max_ns, track.residual_max_ns);
      if (eras.edges[edge].bursts.size() <= most) continue;
      most = eras.edges[edge].bursts.size();
      to.residual_ns = track.residual_ns;
    }
    std::uint64_t exchanges = 0;
    for (std::size_t i = 0; i < link.bursts().size(); ++i) {
      const LinkBurst& burst = link.bursts()[i];
      if (eras.is_rejected[l][i]) {
        ++to.rejected;
        continue;
      }
      ++to.bursts;
      exchanges += burst.exchanges;
      const auto rtt_ns = static_cast<double>(burst.min_rtt_ns);
      to.floor_rtt_ns = to.bursts == 1 ? rtt_ns : std::min(to.floor_rtt_ns, rtt_ns);
    }
    for (const std::uint32_t node : {to.a, to.b}) {
      solution->nodes[node].bursts += to.bursts;
      solution->nodes[node].exchanges += exchanges;
      solution->nodes[node].lost += to.sent - to.answered;
    }
    list_bursts(link, l, rates, eras.is_rejected[l], &solution->bursts);
    solution->links.push_back(to);
  }
  flag_links(&solution->links, solution->nodes.size());
  set_methods(solution);
}

}  // namespace jaxprof::clock

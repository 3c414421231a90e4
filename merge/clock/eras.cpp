#include "merge/clock/eras.h"

#include <algorithm>
#include <optional>
#include <span>

namespace jaxprof::clock {
namespace {

// Which era of a node an instant is in; none in a cut.
std::optional<std::uint32_t> era_at(std::span<const NodeCut> cuts, std::int64_t raw_ns) {
  const auto after =
      std::partition_point(cuts.begin(), cuts.end(), [&](const NodeCut& cut) { return cut.after_ns <= raw_ns; });
  if (after != cuts.end() && after->before_ns < raw_ns) return {};
  return static_cast<std::uint32_t>(after - cuts.begin());
}

}  // namespace

Eras divide(std::uint32_t node_count, const std::vector<ProbeLink>& links, const std::vector<LinkJumps>& jumps,
            const std::vector<NodeCut>& cuts) {
  Eras eras;
  std::vector<std::span<const NodeCut>> cuts_of(node_count);
  std::size_t next = 0;
  for (std::uint32_t node = 0; node < node_count; ++node) {
    const std::size_t begin = next;
    while (next < cuts.size() && cuts[next].node == node) ++next;
    cuts_of[node] = std::span(cuts).subspan(begin, next - begin);
    eras.first.push_back(static_cast<std::uint32_t>(eras.node.size()));
    eras.node.insert(eras.node.end(), next - begin + 1, node);
  }
  eras.first.push_back(static_cast<std::uint32_t>(eras.node.size()));

  eras.is_rejected.resize(links.size());
  for (std::uint32_t l = 0; l < links.size(); ++l) {
    const ProbeLink& link = links[l];
    std::vector<bool>& is_rejected = eras.is_rejected[l];
    is_rejected.assign(link.bursts().size(), false);
    for (const std::uint32_t bad : jumps[l].bad_bursts) is_rejected[bad] = true;
    bool is_open = false;  // whether the last edge is of this link
    for (std::uint32_t i = 0; i < link.bursts().size(); ++i) {
      if (is_rejected[i]) continue;
      const LinkBurst& burst = link.bursts()[i];
      const auto a = era_at(cuts_of[link.a()], burst.a_ns);
      const auto b = era_at(cuts_of[link.b()], burst.a_ns + burst.base_ns);
      if (!a || !b) {
        is_rejected[i] = true;
        continue;
      }
      const std::uint32_t era_a = eras.first[link.a()] + *a;
      const std::uint32_t era_b = eras.first[link.b()] + *b;
      if (!is_open || eras.edges.back().a != era_a || eras.edges.back().b != era_b) {
        eras.edges.push_back({l, era_a, era_b, {}});
        is_open = true;
      }
      eras.edges.back().bursts.push_back(i);
    }
    if (is_open) eras.edges.back().bursts.shrink_to_fit();
  }
  return eras;
}

}  // namespace jaxprof::clock

#include "merge/clock/node_cuts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "merge/clock/median.h"
#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kSourceChangeNs = 500'000'000;  // clock sources are looked at several times a second
constexpr std::int64_t kNoBurstNs = 10'000'000;
constexpr std::int64_t kMappingNs = 20'000'000;  // how well one node's time is found in another's, to be safe

// A link's jump as one of its nodes would have made it.
struct Suspicion {
  std::size_t jump;  // over all links
  std::int64_t before_ns;
  std::int64_t after_ns;
  double size_ns;
  double slack_ns;
  bool is_confirmed;
};

// Jumps that one node would explain.
struct Charge {
  std::uint32_t node = 0;
  std::vector<std::size_t> jumps = {};
  std::int64_t before_ns = 0;
  std::int64_t after_ns = 0;
  double size_ns = 0;
  double share = 0;  // of the node's links
  bool is_confirmed = false;
  // A single burst on one side of a jump, on a single link, might as well be a bad one.
  bool is_proven() const { return is_confirmed || jumps.size() >= 2; }
};

class Court {
 public:
  Court(std::uint32_t node_count, std::uint32_t reference, const std::vector<ProbeLink>& links,
        const std::vector<LinkJumps>& jumps)
      : reference_(reference), links_(links), suspicions_(node_count), links_of_(node_count) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < links.size(); ++i) {
      links_of_[links[i].a()].push_back(i);
      links_of_[links[i].b()].push_back(i);
      for (const LinkJump& jump : jumps[i].jumps) {
        const LinkBurst& before = links[i].bursts()[jump.before];
        const LinkBurst& after = links[i].bursts()[jump.after];
        suspicions_[links[i].a()].push_back(
            {number, before.a_ns, after.a_ns, -jump.size_ns, jump.slack_ns, jump.is_confirmed});
        suspicions_[links[i].b()].push_back({number, before.a_ns + before.base_ns, after.a_ns + after.base_ns,
                                             jump.size_ns, jump.slack_ns, jump.is_confirmed});
        ++number;
      }
    }
    is_explained_.assign(number, false);
  }

  // The best charge that is left, until none holds.
  std::vector<NodeCut> judge() {
    std::vector<NodeCut> cuts;
    while (const std::optional<Charge> charge = best_charge()) {
      for (const std::size_t jump : charge->jumps) is_explained_[jump] = true;
      // A clock that jumped back shows some times twice: all that may be such belong to the cut.
      const auto [begin_ns, end_ns] = std::minmax(charge->before_ns, charge->after_ns);
      // (Of some milliseconds only node_knots() takes notice: no burst is as near to a jump.)
      const std::int64_t twice_ns = std::max<std::int64_t>(0, -round_ns(charge->size_ns));
      const std::int64_t wider_ns = twice_ns > kNoBurstNs ? twice_ns : 0;
      cuts.push_back({charge->node, hold_ns(begin_ns - wider_ns), hold_ns(end_ns + wider_ns), charge->size_ns});
    }
    return cuts;
  }

 private:
  // The most jumps of a node that can be one: their times meet and their sizes agree.
  Charge charge_of(std::uint32_t node) const {
    Charge best{.node = node};
    for (const Suspicion& first : suspicions_[node]) {
      if (is_explained_[first.jump]) continue;
      Charge charge{.node = node, .before_ns = first.before_ns, .after_ns = first.after_ns};
      std::vector<double> sizes;
      for (const Suspicion& other : suspicions_[node]) {
        if (is_explained_[other.jump] || other.after_ns <= charge.before_ns || other.before_ns >= charge.after_ns ||
            std::abs(other.size_ns - first.size_ns) > other.slack_ns + first.slack_ns)
          continue;
        charge.before_ns = std::max(charge.before_ns, other.before_ns);
        charge.after_ns = std::min(charge.after_ns, other.after_ns);
        charge.jumps.push_back(other.jump);
        charge.is_confirmed = charge.is_confirmed || other.is_confirmed;
        sizes.push_back(other.size_ns);
      }
      const auto rank = [](const Charge& of) { return std::pair(of.is_proven(), of.jumps.size()); };
      if (rank(charge) <= rank(best)) continue;
      charge.size_ns = median(&sizes);
      best = charge;
    }
    if (best.jumps.empty()) return best;
    std::size_t links = 0;  // that were in use before and behind
    for (const std::size_t i : links_of_[node]) {
      if (links_[i].bursts().empty()) continue;
      const bool is_a = links_[i].a() == node;
      const auto time_ns = [is_a](const LinkBurst& burst) { return is_a ? burst.a_ns : burst.a_ns + burst.base_ns; };
      if (time_ns(links_[i].bursts().front()) < best.after_ns && time_ns(links_[i].bursts().back()) > best.before_ns) {
        ++links;
      }
    }
    best.share = static_cast<double>(best.jumps.size()) / static_cast<double>(std::max(links, best.jumps.size()));
    return best;
  }

  std::optional<Charge> best_charge() const {
    std::optional<Charge> best;
    const auto rank = [this](const Charge& charge) {
      return std::tuple(charge.share, charge.jumps.size(), charge.node != reference_);
    };
    for (std::uint32_t node = 0; node < suspicions_.size(); ++node) {
      if (suspicions_[node].empty()) continue;
      Charge charge = charge_of(node);
      // If it shows on all links of the node there is nothing that speaks against it.
      if (charge.jumps.empty() || charge.share < 0.5 || (!charge.is_proven() && charge.share < 1)) continue;
      if (!best || rank(charge) > rank(*best)) best = std::move(charge);
    }
    return best;
  }

  std::uint32_t reference_;
  const std::vector<ProbeLink>& links_;
  std::vector<std::vector<Suspicion>> suspicions_;
  std::vector<std::vector<std::size_t>> links_of_;
  std::vector<bool> is_explained_;
};

// What the other node's clock read when one end's did, by the burst next to that time.
std::int64_t across(const ProbeLink& link, bool from_a, std::int64_t time_ns) {
  const auto end_ns = [from_a](const LinkBurst& burst) { return from_a ? burst.a_ns : burst.a_ns + burst.base_ns; };
  const auto& bursts = link.bursts();
  auto at = std::partition_point(bursts.begin(), bursts.end(),
                                 [&](const LinkBurst& burst) { return end_ns(burst) < time_ns; });
  if (at == bursts.end() || (at != bursts.begin() && time_ns - end_ns(*(at - 1)) < end_ns(*at) - time_ns)) --at;
  return from_a ? time_ns + at->base_ns : time_ns - at->base_ns;
}

// Where the reference jumped everything that is measured by it has a cut.
void pass_on(std::uint32_t node_count, const NodeCut& cut, const std::vector<ProbeLink>& links,
             std::vector<NodeCut>* cuts) {
  std::vector<std::vector<std::size_t>> links_of(node_count);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].bursts().empty()) continue;
    links_of[links[i].a()].push_back(i);
    links_of[links[i].b()].push_back(i);
  }
  std::vector<std::optional<NodeCut>> found(node_count);
  found[cut.node] = cut;
  std::vector<std::uint32_t> queue = {cut.node};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t node = queue[next];
    for (const std::size_t i : links_of[node]) {
      const bool from_a = links[i].a() == node;
      const std::uint32_t other = from_a ? links[i].b() : links[i].a();
      if (found[other]) continue;
      found[other] = NodeCut{other,
                             hold_ns(across(links[i], from_a, found[node]->before_ns) - kMappingNs),
                             hold_ns(across(links[i], from_a, found[node]->after_ns) + kMappingNs),
                             0,
                             cut.kind,
                             false};
      queue.push_back(other);
      cuts->push_back(*found[other]);
    }
  }
}

// Overlapping cuts of a node become one. A jump seen around an observed change of clock source was made by it.
std::vector<NodeCut> merge_cuts(std::vector<NodeCut> cuts) {
  std::sort(cuts.begin(), cuts.end(), [](const NodeCut& x, const NodeCut& y) {
    return std::tie(x.node, x.before_ns, x.after_ns, x.kind) < std::tie(y.node, y.before_ns, y.after_ns, y.kind);
  });
  std::vector<NodeCut> merged;
  for (const NodeCut& cut : cuts) {
    if (merged.empty() || merged.back().node != cut.node || merged.back().after_ns < cut.before_ns) {
      merged.push_back(cut);
      continue;
    }
    NodeCut& last = merged.back();
    last.after_ns = std::max(last.after_ns, cut.after_ns);
    if (!cut.is_own) continue;
    last.size_ns += cut.size_ns;
    if (!last.is_own || cut.kind == StepKind::kClockSource) last.kind = cut.kind;
    last.is_own = true;
  }
  return merged;
}

}  // namespace

std::vector<NodeCut> find_cuts(std::uint32_t node_count, std::uint32_t reference, const std::vector<ProbeLink>& links,
                               const std::vector<LinkJumps>& jumps, std::span<const SourceChange> changes) {
  std::vector<NodeCut> cuts;
  const bool has_jumps = std::any_of(jumps.begin(), jumps.end(), [](const auto& of) { return !of.jumps.empty(); });
  if (has_jumps) cuts = Court(node_count, reference, links, jumps).judge();
  for (const SourceChange& change : changes) {
    cuts.push_back(
        {change.node, change.raw_ns - kSourceChangeNs, change.raw_ns + kSourceChangeNs, 0, StepKind::kClockSource});
  }
  std::vector<NodeCut> all = merge_cuts(cuts);
  const std::size_t own = all.size();
  for (std::size_t i = 0; i < own; ++i) {
    if (all[i].node == reference) pass_on(node_count, NodeCut(all[i]), links, &all);
  }
  return all.size() == own ? all : merge_cuts(std::move(all));
}

}  // namespace jaxprof::clock

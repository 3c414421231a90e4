#include "merge/study/straggler_level.h"

#include <algorithm>
#include <array>
#include <map>

#include "merge/study/member_lateness.h"

namespace jaxprof::study {
namespace {

constexpr double kMadToSigma = 1.4826;
constexpr double kSigmas = 3;

struct Group {
  std::vector<std::uint32_t> lanes;
  std::int64_t fault_ns = 0;
};

// Do its lanes stand out together, and differ less from each other than from the rest?
bool stands_out(const Group& group, std::span<const CauseSplit> excess) {
  std::vector<std::int64_t> own_ns;
  for (const std::uint32_t lane : group.lanes) own_ns.push_back(excess[lane].sum_ns());
  std::vector<std::int64_t> others_ns;
  for (std::uint32_t lane = 0; lane < excess.size(); ++lane) {
    if (std::find(group.lanes.begin(), group.lanes.end(), lane) == group.lanes.end()) {
      others_ns.push_back(excess[lane].sum_ns());
    }
  }
  if (others_ns.empty()) return false;
  const std::int64_t usual_ns = median_ns(others_ns);
  std::vector<std::int64_t> off_ns;
  for (const std::int64_t ns : others_ns) off_ns.push_back(distance_ns(usual_ns, ns));
  const double limit_ns = kSigmas * kMadToSigma * static_cast<double>(median_ns(off_ns)) + kSignificantNs;
  const auto n_out = std::count_if(own_ns.begin(), own_ns.end(), [usual_ns, limit_ns](std::int64_t ns) {
    return static_cast<double>(span_ns(usual_ns, ns)) > limit_ns;
  });
  if (static_cast<double>(n_out) < kMostOfNode * static_cast<double>(own_ns.size())) return false;
  const auto [least, most] = std::minmax_element(own_ns.begin(), own_ns.end());
  const std::int64_t within_ns = span_ns(*least, *most);
  return within_ns < span_ns(usual_ns, median_ns(own_ns));
}

// The group of several lanes with the most fault, if it is one thing.
const Group* find_group(const std::map<std::int64_t, Group>& groups, std::int64_t total_ns,
                        std::span<const CauseSplit> excess) {
  const Group* most = nullptr;
  for (const auto& [key, group] : groups) {
    if (most == nullptr || group.fault_ns > most->fault_ns) most = &group;
  }
  const bool is_candidate =
      most != nullptr && most->lanes.size() >= 2 && groups.size() >= 2 && most->fault_ns > total_ns / 2;
  return is_candidate && stands_out(*most, excess) ? most : nullptr;
}

}  // namespace

std::string_view word(Level level) {
  constexpr std::array<std::string_view, 7> kWords = {"", "member", "gpu", "rank", "node", "nic", "network"};
  return kWords[static_cast<std::size_t>(level)];
}

Culprit find_culprit(const Subjects& lanes, std::span<const std::int64_t> fault_ns,
                     std::span<const CauseSplit> excess) {
  Culprit culprit;
  std::int64_t total_ns = 0;
  std::map<std::int64_t, Group> nodes;
  std::map<std::int64_t, Group> ranks;
  std::uint32_t worst = runfile::kNoIndex;
  for (std::uint32_t lane = 0; lane < fault_ns.size(); ++lane) {
    total_ns = instant_after(total_ns, fault_ns[lane]);
    const Subject& s = lanes.at(lane);
    for (auto* group : {&nodes[s.node], s.rank >= 0 ? &ranks[s.rank] : &ranks[-1 - std::int64_t{lane}]}) {
      group->lanes.push_back(lane);
      group->fault_ns = instant_after(group->fault_ns, fault_ns[lane]);
    }
    if (fault_ns[lane] > 0 && (worst == runfile::kNoIndex || fault_ns[lane] > fault_ns[worst])) worst = lane;
  }
  if (worst == runfile::kNoIndex) return culprit;
  const Subject& s = lanes.at(worst);
  const Group& own_rank = s.rank >= 0 ? ranks[s.rank] : ranks[-1 - std::int64_t{worst}];
  const Group* node = find_group(nodes, total_ns, excess);
  const Group* rank = node == nullptr ? find_group(ranks, total_ns, excess) : nullptr;
  const Group* several = node != nullptr ? node : rank;
  culprit.lanes = several != nullptr ? several->lanes : std::vector<std::uint32_t>{worst};
  culprit.fault_ns = several != nullptr ? several->fault_ns : fault_ns[worst];
  for (const std::uint32_t lane : culprit.lanes) culprit.split.add(excess[lane]);
  culprit.cause = name_cause(culprit.split);
  const bool is_gpu = culprit.cause.cause == Cause::kCompute || own_rank.lanes.size() > 1;
  culprit.level = node != nullptr ? Level::kNode : rank != nullptr || !is_gpu ? Level::kRank : Level::kGpu;
  return culprit;
}

}  // namespace jaxprof::study

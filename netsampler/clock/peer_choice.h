// Which nodes a node compares its clock with. Every node with the reference makes a star, whose bound is the tightest
// that there is; four more each, drawn at random, show links and clocks that are wrong. Nobody has a list of the nodes,
// and nobody asks another whom it has chosen: each draws by hashes of names (rendezvous hashing), so that all nodes
// that see the same set agree on all choices, and a node that comes or goes changes few of them. Pure.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace jaxprof::netsampler {

inline constexpr std::size_t kMeshPeers = 4;

// The node in the star's middle: `reference` if it is among `nodes`, else the first of them by name.
std::string centre_of(const std::set<std::string>& nodes, const std::string& reference);

// Whom `own` compares its clock with: the centre and kMeshPeers others of `nodes`, or all where there are fewer. Never
// itself, though `nodes` may contain it. `seed` is the run's.
std::set<std::string> choose_peers(const std::string& own, const std::set<std::string>& nodes,
                                   const std::string& centre, std::uint64_t seed);

// A seed from a run's id, the same on all nodes.
std::uint64_t choice_seed(std::string_view run_id);

}  // namespace jaxprof::netsampler

#include "netsampler/clock/peer_choice.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace jaxprof::netsampler {
namespace {

// FNV-1a, 64 bits.
std::uint64_t hash_text(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// The finish of SplitMix64: names that differ in one character are drawn independently.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

std::uint64_t draw(std::uint64_t seed, std::string_view own, std::string_view other) {
  return mix(hash_text(other, mix(hash_text(own, seed))));
}

}  // namespace

std::string centre_of(const std::set<std::string>& nodes, const std::string& reference) {
  if (nodes.contains(reference)) return reference;
  return nodes.empty() ? std::string() : *nodes.begin();
}

std::set<std::string> choose_peers(const std::string& own, const std::set<std::string>& nodes,
                                   const std::string& centre, std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, std::string>> drawn;
  for (const std::string& node : nodes) {
    if (node != own && node != centre) drawn.emplace_back(draw(seed, own, node), node);
  }
  const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(std::min(kMeshPeers, drawn.size()));
  std::partial_sort(drawn.begin(), end, drawn.end());
  std::set<std::string> peers;
  for (auto entry = drawn.begin(); entry != end; ++entry) peers.insert(entry->second);
  if (centre != own && nodes.contains(centre)) peers.insert(centre);
  return peers;
}

std::uint64_t choice_seed(std::string_view run_id) {
  return mix(hash_text(run_id, 0xcbf29ce484222325));
}

}  // namespace jaxprof::netsampler

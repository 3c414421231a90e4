// Sums by group and key, of rows that come by the hundred million: found by hash, listed in order of the key.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merge/study/sum_columns.h"

namespace jaxprof::study {

// Key: ordered, equal, and with a hash(). Sums: starts empty, and has for_each_sample(F), which shows its ValueCounts.
template <typename Key, typename Sums>
class GroupedSums {
 public:
  // Valid as long as this is.
  Sums& of(std::uint32_t group, const Key& key) {
    Sums*& known = known_[{key, group}];
    if (known == nullptr) known = &sums_[{key, group}];
    return *known;
  }
  // By key, then by group.
  const std::map<std::pair<Key, std::uint32_t>, Sums>& all() const { return sums_; }
  std::map<std::pair<Key, std::uint32_t>, Sums>& all() { return sums_; }
  bool empty() const { return sums_.empty(); }

  // To be called now and then: bounds the memory (keep_small).
  void keep_small() {
    std::vector<ValueCounts*> samples;
    for (auto& [key, sums] : sums_) sums.for_each_sample([&](ValueCounts& sample) { samples.push_back(&sample); });
    study::keep_small(std::move(samples));
  }
  // Rows with a sample that was rounded.
  std::size_t n_rounded() {
    std::size_t n = 0;
    for (auto& [key, sums] : sums_) {
      bool is_exact = true;
      sums.for_each_sample([&](const ValueCounts& sample) { is_exact = is_exact && sample.is_exact(); });
      n += is_exact ? 0 : 1;
    }
    return n;
  }

 private:
  struct Hash {
    std::size_t operator()(const std::pair<Key, std::uint32_t>& key) const {
      return static_cast<std::size_t>((key.first.hash() + key.second) * 0x9E3779B97F4A7C15ULL >> 20);
    }
  };
  std::map<std::pair<Key, std::uint32_t>, Sums> sums_;
  std::unordered_map<std::pair<Key, std::uint32_t>, Sums*, Hash> known_;
};

}  // namespace jaxprof::study

// Stretches of a thread's time: which one was open at a stamp. The events of a thread ask in the order of their time,
// so that the answer is mostly the stretch before or the next one, and needs no search.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jaxprof::match {

// `Stretch` has a `start` and an `end`, which is part of it.
template <typename Stretch>
class Stretches {
 public:
  // By start; what is not in order, in a damaged file only, is found or not.
  void add(const Stretch& stretch) {
    is_rising_ = is_rising_ && (all_.empty() || all_.back().start <= stretch.start);
    all_.push_back(stretch);
  }

  // The last of those that begin at `stamp` or before, if it has not ended by then; null otherwise.
  const Stretch* open_at(std::uint64_t stamp) {
    const auto begins_by = [&](std::size_t at) { return at < all_.size() && all_[at].start <= stamp; };
    if (is_rising_ && begins_by(last_ + 1)) ++last_;
    if (!is_rising_ || !begins_by(last_) || begins_by(last_ + 1)) {
      const auto after = std::upper_bound(all_.begin(), all_.end(), stamp,
                                          [](std::uint64_t value, const Stretch& item) { return value < item.start; });
      if (after == all_.begin()) return nullptr;
      last_ = static_cast<std::size_t>(after - all_.begin()) - 1;
    }
    return stamp <= all_[last_].end ? &all_[last_] : nullptr;
  }

 private:
  std::vector<Stretch> all_;
  bool is_rising_ = true;
  std::size_t last_ = 0;  // that was asked for
};

}  // namespace jaxprof::match

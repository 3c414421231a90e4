// Lists of values by number or by a 64-bit key, all in a few arrays. A process has millions of calls and kernels with
// mostly one value a key (what a correlation launched, the calls of a kernel plan): a hash map of vectors spends more
// on memory for each of them than on all that is done with it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jaxprof::match {

// Numbers keys from 0 in the order in which they come; fewer than 2^32 of them.
class KeyNumbers {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Of a key, which gets the next one if it has none.
  std::uint32_t add(std::uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    std::uint32_t& slot = slots_[slot_of(key)];
    if (slot == kNone) {
      slot = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return slot;
  }
  // kNone: it has none.
  std::uint32_t find(std::uint64_t key) const { return slots_.empty() ? kNone : slots_[slot_of(key)]; }
  std::size_t size() const { return keys_.size(); }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    std::size_t at = (key * 0x9e3779b97f4a7c15) >> shift_;  // Fibonacci hashing: keys that count lie apart
    while (slots_[at] != kNone && keys_[slots_[at]] != key) at = (at + 1) % slots_.size();
    return at;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (std::size_t number = 0; number < keys_.size(); ++number) {
      slots_[slot_of(keys_[number])] = static_cast<std::uint32_t>(number);
    }
  }

  std::vector<std::uint64_t> keys_;   // by number
  std::vector<std::uint32_t> slots_;  // a power of two, at most half of them taken
  unsigned shift_ = 0;
};

// Lists by number. All values are added, then settle() is called, then lists are asked for.
template <typename Value>
class NumberedLists {
 public:
  // Behind the values that the number has.
  void add(std::uint32_t number, const Value& value) { added_.emplace_back(number, value); }

  void settle() {
    std::size_t count = 0;
    for (const auto& [number, value] : added_) count = std::max<std::size_t>(count, number + std::size_t{1});
    first_.assign(count + 1, 0);
    for (const auto& [number, value] : added_) ++first_[number + 1];
    for (std::size_t number = 0; number < count; ++number) first_[number + 1] += first_[number];
    values_.resize(added_.size());
    std::vector<std::size_t> next(first_);
    for (const auto& [number, value] : added_) values_[next[number]++] = value;
    added_ = std::vector<std::pair<std::uint32_t, Value>>();  // gives its memory back, as {} does not
  }

  // Numbers from 0 to the greatest that has a value.
  std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  // Empty for a number without values.
  std::span<const Value> of(std::uint32_t number) const {
    if (number >= size()) return {};
    return std::span(values_).subspan(first_[number], first_[number + 1] - first_[number]);
  }
  std::span<Value> of(std::uint32_t number) {
    if (number >= size()) return {};
    return std::span(values_).subspan(first_[number], first_[number + 1] - first_[number]);
  }

 private:
  std::vector<std::pair<std::uint32_t, Value>> added_;
  std::vector<std::size_t> first_;  // by number, and the end
  std::vector<Value> values_;
};

// The same by key.
template <typename Value>
class KeyedLists {
 public:
  void add(std::uint64_t key, const Value& value) { lists_.add(numbers_.add(key), value); }
  void settle() { lists_.settle(); }
  std::span<const Value> of(std::uint64_t key) const { return lists_.of(numbers_.find(key)); }

  // Sorts each list; equal values stay in order.
  template <typename Before>
  void sort_each(const Before& before) {
    for (std::uint32_t number = 0; number < lists_.size(); ++number) {
      const std::span<Value> list = lists_.of(number);
      if (!std::is_sorted(list.begin(), list.end(), before)) std::stable_sort(list.begin(), list.end(), before);
    }
  }

 private:
  KeyNumbers numbers_;
  NumberedLists<Value> lists_;
};

}  // namespace jaxprof::match

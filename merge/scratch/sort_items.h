// Sorting large records by moving them costs more than comparing them, and comparing them costs more than looking at a
// number. So their places are sorted, each with as much of the order as 64 bits hold: by these with a radix sort, and
// what they leave equal by comparing the records.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jaxprof::scratch {

// The leading part of an order: of two records the one with the smaller numbers, first by [0], then by [1], is before
// the other; records with equal ones may be in any order.
using Leading = std::array<std::uint64_t, 2>;

inline bool is_less(const Leading& a, const Leading& b) {
  return a[0] != b[0] ? a[0] < b[0] : a[1] < b[1];
}
inline bool is_equal(const Leading& a, const Leading& b) {
  return a[0] == b[0] && a[1] == b[1];
}

// An order that has such a part: `static Leading leading(const Record&)`.
template <typename Before, typename Record>
concept HasLeading = requires(const Record& record) {
  { Before::leading(record) } -> std::same_as<Leading>;
};

template <typename Before, typename Record>
Leading leading_of(const Record& record) {
  if constexpr (HasLeading<Before, Record>) return Before::leading(record);
  return {};
}

struct SortItem {
  std::uint64_t key;
  std::uint64_t place;
};

// The items of places 0, 1, … that have these leading parts, sorted; those with equal keys stay in order. A key is the
// first 64 of the bits in which the leading parts differ at all. Takes memory for two items a place.
std::vector<SortItem> sorted_items(std::vector<Leading> leading);

// The places of numbers in ascending order; those of equal ones ascend.
std::vector<std::size_t> sorted_places(std::span<const std::uint64_t> numbers);
std::vector<std::size_t> sorted_places(std::span<const std::int64_t> numbers);

// Puts the places of `records` in order; those of equal records ascend. Takes memory for two items a record.
template <typename Before, typename Record>
std::vector<SortItem> sorted_places(std::span<const Record> records) {
  std::vector<Leading> leading(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) leading[i] = leading_of<Before>(records[i]);
  std::vector<SortItem> items = sorted_items(std::move(leading));
  const auto is_before = [records](const SortItem& a, const SortItem& b) {
    return Before{}(records[a.place], records[b.place]);
  };
  for (auto first = items.begin(); first != items.end();) {
    auto end = first + 1;
    bool is_sorted = true;
    for (; end != items.end() && end->key == first->key; ++end) {
      is_sorted = is_sorted && !is_before(*end, *(end - 1));
    }
    if (!is_sorted) std::stable_sort(first, end, is_before);
    first = end;
  }
  return items;
}

}  // namespace jaxprof::scratch

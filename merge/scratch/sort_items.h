// Sorting many large records by moving them costs more than comparing them. So their places are sorted, each with the
// leading part of the order as two numbers: by these with a radix sort, which looks at the bytes that differ and
// compares nothing, and what they leave equal by comparing the records.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::scratch {

// The leading part of an order: of two records the one with the smaller numbers, first by [0], then by [1], is before
// the other; records with equal ones may be in any order.
using Leading = std::array<std::uint64_t, 2>;

struct SortItem {
  Leading leading;
  std::uint64_t place;
};

// By `leading`; items with equal ones keep their order. `spare` is as long as `items`, and what it holds is lost.
void sort_by_leading(std::span<SortItem> items, std::span<SortItem> spare);

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

// Puts the places of `records` in order; those of equal records ascend. Takes memory for two items a record.
template <typename Before, typename Record>
std::vector<SortItem> sorted_places(std::span<const Record> records) {
  std::vector<SortItem> items;
  items.reserve(records.size());
  for (std::uint64_t i = 0; i < records.size(); ++i) items.push_back({leading_of<Before>(records[i]), i});
  if constexpr (HasLeading<Before, Record>) {
    std::vector<SortItem> spare(items.size());
    sort_by_leading(items, spare);
  }
  const auto is_before = [records](const SortItem& a, const SortItem& b) {
    return Before{}(records[a.place], records[b.place]);
  };
  for (auto first = items.begin(); first != items.end();) {
    auto end = first + 1;
    bool is_sorted = true;
    for (; end != items.end() && end->leading == first->leading; ++end) {
      is_sorted = is_sorted && !is_before(*end, *(end - 1));
    }
    if (!is_sorted) std::stable_sort(first, end, is_before);
    first = end;
  }
  return items;
}

}  // namespace jaxprof::scratch

#include "merge/scratch/sort_items.h"

#include <utility>

namespace jaxprof::scratch {
namespace {

constexpr unsigned kBitsAtOnce = 8;
constexpr std::size_t kDigits = 1 << kBitsAtOnce;

// One pass: a stable distribution by the digit at `shift` of number `word`.
void distribute(std::span<const SortItem> from, std::span<SortItem> to, std::size_t word, unsigned shift) {
  const auto digit = [word, shift](const SortItem& item) { return (item.leading[word] >> shift) % kDigits; };
  std::array<std::size_t, kDigits> next{};
  for (const SortItem& item : from) ++next[digit(item)];
  std::size_t begin = 0;
  for (std::size_t& count : next) begin += std::exchange(count, begin);
  for (const SortItem& item : from) to[next[digit(item)]++] = item;
}

}  // namespace

void sort_by_leading(std::span<SortItem> items, std::span<SortItem> spare) {
  const auto is_before = [](const SortItem& a, const SortItem& b) { return a.leading < b.leading; };
  if (std::is_sorted(items.begin(), items.end(), is_before)) return;
  Leading differing{};
  for (const SortItem& item : items) {
    for (std::size_t word : {0, 1}) differing[word] |= item.leading[word] ^ items.front().leading[word];
  }
  std::span<SortItem> from = items;
  std::span<SortItem> to = spare;
  for (const std::size_t word : {std::size_t{1}, std::size_t{0}}) {
    for (unsigned shift = 0; shift < 64; shift += kBitsAtOnce) {
      if ((differing[word] >> shift) % kDigits == 0) continue;
      distribute(from, to, word, shift);
      std::swap(from, to);
    }
  }
  if (from.data() != items.data()) std::copy(from.begin(), from.end(), items.begin());
}

}  // namespace jaxprof::scratch

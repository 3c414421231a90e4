#include "merge/scratch/sort_items.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace jaxprof::scratch {
namespace {

constexpr unsigned kBitsAtOnce = 11;
constexpr std::size_t kDigits = std::size_t{1} << kBitsAtOnce;

// Takes the bits of a mask out of a number and puts them side by side: numbers that differ in these bits only keep
// their order.
class BitPicker {
 public:
  // The first `most` bits of `mask`, from above.
  BitPicker(std::uint64_t mask, unsigned most) {
    for (unsigned end = 64; end > 0 && count_ < most;) {  // bits below `end` are left
      const std::uint64_t left = mask << (64 - end);
      if (left == 0) break;
      end -= static_cast<unsigned>(std::countl_zero(left));
      const auto ones = std::min(static_cast<unsigned>(std::countl_one(mask << (64 - end))), end);
      const unsigned length = std::min(ones, most - count_);
      stretches_.push_back({end - length, length});
      count_ += length;
      end -= length;
    }
  }
  unsigned count() const { return count_; }
  // `from` with the picked bits of `number` behind it.
  std::uint64_t pick(std::uint64_t from, std::uint64_t number) const {
    for (const Stretch& stretch : stretches_) {
      if (stretch.length == 64) return number;
      const std::uint64_t bits = (number >> stretch.lowest) & ((std::uint64_t{1} << stretch.length) - 1);
      from = from << stretch.length | bits;
    }
    return from;
  }

 private:
  struct Stretch {
    unsigned lowest;
    unsigned length;
  };
  std::vector<Stretch> stretches_;
  unsigned count_ = 0;
};

// One pass: a stable distribution by the digit at `shift`.
void distribute(std::span<const SortItem> from, std::span<SortItem> to, unsigned shift) {
  const auto digit = [shift](const SortItem& item) { return (item.key >> shift) % kDigits; };
  std::array<std::size_t, kDigits> next{};
  for (const SortItem& item : from) ++next[digit(item)];
  std::size_t begin = 0;
  for (std::size_t& count : next) begin += std::exchange(count, begin);
  for (const SortItem& item : from) to[next[digit(item)]++] = item;
}

}  // namespace

std::vector<SortItem> sorted_items(std::vector<Leading> leading) {
  Leading differing{};
  bool is_sorted = true;
  for (std::size_t i = 1; i < leading.size(); ++i) {
    differing[0] |= leading[i][0] ^ leading[0][0];
    differing[1] |= leading[i][1] ^ leading[0][1];
    is_sorted = is_sorted && !is_less(leading[i], leading[i - 1]);
  }
  const BitPicker upper(differing[0], 64);
  const BitPicker lower(differing[1], 64 - upper.count());
  std::vector<SortItem> items(leading.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = {lower.pick(upper.pick(0, leading[i][0]), leading[i][1]), i};
  }
  if (is_sorted) return items;
  leading = std::vector<Leading>();  // gives its memory back, as {} does not
  std::vector<SortItem> spare(items.size());
  for (unsigned shift = 0; shift < upper.count() + lower.count(); shift += kBitsAtOnce) {
    distribute(items, spare, shift);
    std::swap(items, spare);
  }
  return items;
}

std::vector<std::size_t> sorted_places(std::span<const std::uint64_t> numbers) {
  std::vector<std::size_t> places(numbers.size());
  if (std::is_sorted(numbers.begin(), numbers.end())) {
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }
  std::vector<Leading> leading(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) leading[i] = {numbers[i], 0};
  const std::vector<SortItem> items = sorted_items(std::move(leading));
  for (std::size_t i = 0; i < items.size(); ++i) places[i] = items[i].place;
  return places;
}

std::vector<std::size_t> sorted_places(std::span<const std::int64_t> numbers) {
  std::vector<std::uint64_t> shifted;  // that order as the signed ones do
  shifted.reserve(numbers.size());
  for (const std::int64_t number : numbers) shifted.push_back(static_cast<std::uint64_t>(number) ^ 1ULL << 63);
  return sorted_places(std::span<const std::uint64_t>(shifted));
}

}  // namespace jaxprof::scratch

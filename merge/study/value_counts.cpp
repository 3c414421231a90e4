#include "merge/study/value_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

constexpr unsigned kKeptBits = 10;  // of a rounded value: off by half of 2^-10 of it at most
static_assert(kRoundingShare == 1.0 / (1U << kKeptBits));

// To the middle of its class of values with the same leading bits.
std::int64_t rounded(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  const auto width = static_cast<unsigned>(std::bit_width(bits));
  if (width <= kKeptBits + 1) return value;
  const unsigned dropped = width - kKeptBits - 1;
  return static_cast<std::int64_t>((bits >> dropped << dropped) + (std::uint64_t{1} << dropped) / 2);
}

std::size_t slot_of(std::int64_t value, std::size_t capacity) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(mixed >> 32) & (capacity - 1);
}

}  // namespace

void ValueCounts::add(std::int64_t value, std::uint64_t times) {
  min_ = n_ == 0 ? value : std::min(min_, value);
  max_ = n_ == 0 ? value : std::max(max_, value);
  n_ += times;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(value, times, &product)) product = std::numeric_limits<std::int64_t>::max();
  total_ = instant_after(total_, product);
  put(is_rounded_ ? rounded(value) : value, times);
}

void ValueCounts::add_all(const ValueCounts& other) {
  if (other.n_ == 0) return;
  if (other.is_rounded_) round();
  min_ = n_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = n_ == 0 ? other.max_ : std::max(max_, other.max_);
  n_ += other.n_;
  total_ = instant_after(total_, other.total_);
  for (const Entry& entry : other.entries_) {
    if (entry.value != kFree) put(is_rounded_ ? rounded(entry.value) : entry.value, entry.times);
  }
}

void ValueCounts::put(std::int64_t value, std::uint64_t times) {
  if (2 * n_used_ >= entries_.size()) grow();
  std::size_t slot = slot_of(value, entries_.size());
  while (entries_[slot].value != value && entries_[slot].value != kFree) slot = (slot + 1) & (entries_.size() - 1);
  n_used_ += entries_[slot].value == kFree ? 1 : 0;
  entries_[slot].value = value;
  entries_[slot].times += times;
}

void ValueCounts::grow() {
  std::vector<Entry> old(std::max<std::size_t>(8, 2 * entries_.size()));
  old.swap(entries_);
  n_used_ = 0;
  for (const Entry& entry : old) {
    if (entry.value != kFree) put(entry.value, entry.times);
  }
}

void ValueCounts::round() {
  if (is_rounded_) return;
  is_rounded_ = true;
  std::vector<Entry> old;
  old.swap(entries_);
  n_used_ = 0;
  for (const Entry& entry : old) {
    if (entry.value != kFree) put(rounded(entry.value), entry.times);
  }
}

ValueCounts::Shape ValueCounts::shape() const {
  std::vector<Entry> sorted;
  sorted.reserve(n_used_);
  for (const Entry& entry : entries_) {
    if (entry.value != kFree) sorted.push_back(entry);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.value < b.value; });
  const double n = static_cast<double>(n_);
  Shape shape;
  shape.mean = static_cast<double>(total_) / n;
  // The two middle values are those at these places; one and the same if n is odd.
  const std::uint64_t low = (n_ - 1) / 2;
  const std::uint64_t high = n_ / 2;
  std::uint64_t before = 0;
  double low_value = 0;
  double high_value = 0;
  double squares = 0;
  for (const Entry& entry : sorted) {
    const auto value = static_cast<double>(entry.value);
    if (before <= low && low < before + entry.times) low_value = value;
    if (before <= high && high < before + entry.times) high_value = value;
    before += entry.times;
    squares += static_cast<double>(entry.times) * (value - shape.mean) * (value - shape.mean);
  }
  shape.p50 = low_value + (high_value - low_value) / 2;
  shape.p50 = std::clamp(shape.p50, static_cast<double>(min_), static_cast<double>(max_));
  shape.std = n_ > 1 ? std::sqrt(squares / (n - 1)) : 0;
  return shape;
}

}  // namespace jaxprof::study

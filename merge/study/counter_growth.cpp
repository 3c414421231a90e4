#include "merge/study/counter_growth.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::study {
namespace {

using runfile::CounterColumn;
using runfile::CounterKind;
using runfile::CounterTable;
using runfile::kNoSample;

// The largest value of a counter.
std::uint64_t end_of(const CounterColumn& column) {
  return column.bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << column.bits) - 1;
}

bool is_at_end(const CounterColumn& column, std::uint64_t value) {
  return column.kind == CounterKind::kSaturating && value >= end_of(column);
}

}  // namespace

std::optional<std::uint64_t> counter_growth(const CounterColumn& column, std::uint64_t previous, std::uint64_t now) {
  if (previous == kNoSample || now == kNoSample || column.kind == CounterKind::kGauge) return std::nullopt;
  if (is_at_end(column, now)) return std::nullopt;
  if (now >= previous) return now - previous;
  const std::uint64_t end = end_of(column);
  const bool went_round =
      column.kind == CounterKind::kCounter && column.bits < 64 && previous <= end && previous > end / 2;
  if (!went_round) return std::nullopt;
  return (now - previous) & end;
}

std::int64_t whole_number(double value) {
  constexpr double kLimit = 9e18;
  return std::llround(std::clamp(value, -kLimit, kLimit));
}

std::optional<double> Growth::mean_per_s() const {
  if (time_ns <= 0) return std::nullopt;
  return total / (time_ns / 1e9);
}

Growth grow(const CounterTable& table, const CounterColumn& column, std::uint64_t first, std::uint64_t last,
            std::vector<GrowthSpan>* spans) {
  Growth growth;
  std::uint64_t previous = kNoSample;
  double previous_ns = 0;
  for (std::uint64_t row = first; row < last; ++row) {
    // A row that lacks this counter may still tell that the card was reset.
    if ((table.flags[row] & runfile::kRowReset) != 0 && previous != kNoSample) {
      ++growth.resets;
      previous = kNoSample;
    }
    const std::uint64_t now = column.values[row];
    if (now == kNoSample || (table.flags[row] & runfile::kRowStale) != 0) continue;
    ++growth.n_values;
    growth.is_saturated = is_at_end(column, now);
    // Exact below 100 days, and no time of a damaged file overflows.
    const double now_ns = static_cast<double>(table.time_ns[row]) + static_cast<double>(table.read_ns[row]) / 2;
    const auto steps = counter_growth(column, previous, now);
    if (steps && now_ns > previous_ns) {
      const double amount = static_cast<double>(*steps) * column.scale;
      growth.total += amount;
      growth.time_ns += now_ns - previous_ns;
      growth.per_s.push_back(whole_number(amount * 1e9 / (now_ns - previous_ns)));
      if (spans != nullptr) spans->push_back({previous_ns, now_ns, amount});
    } else if (!steps && previous != kNoSample && column.kind != CounterKind::kGauge && !growth.is_saturated) {
      ++growth.resets;
    }
    previous = now;
    previous_ns = now_ns;
  }
  return growth;
}

}  // namespace jaxprof::study

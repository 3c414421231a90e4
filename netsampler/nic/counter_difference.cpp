#include "netsampler/nic/counter_difference.h"

#include <algorithm>

#include "agent/spool/sample_codec.h"

namespace jaxprof::netsampler {
namespace {

using spool::kMissingSample;
using spool::SampleKind;

// The largest value of a counter.
std::uint64_t end_of(const Column& column) {
  return column.bits >= 64 ? UINT64_MAX : (std::uint64_t{1} << column.bits) - 1;
}

bool is_at_end(const Column& column, std::uint64_t value) {
  return column.kind == SampleKind::kSaturating && value != kMissingSample && value >= end_of(column);
}

bool went_round(const Column& column, std::uint64_t previous, std::uint64_t now) {
  return column.kind == SampleKind::kCounter && column.bits < 64 && now < previous && previous <= end_of(column) &&
         previous > end_of(column) / 2;
}

}  // namespace

std::optional<std::uint64_t> counter_difference(const Column& column, std::uint64_t previous, std::uint64_t now) {
  if (previous == kMissingSample || now == kMissingSample || column.kind == SampleKind::kGauge) return {};
  if (is_at_end(column, now)) return {};
  if (now >= previous) return now - previous;
  if (!went_round(column, previous, now)) return {};
  return (now - previous) & end_of(column);
}

std::uint32_t compare_rows(std::span<const Column> columns, std::span<const std::uint64_t> previous,
                           std::span<const std::uint64_t> now) {
  std::uint32_t flags = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (is_at_end(columns[i], now[i])) flags |= spool::kSampleSaturated;
    if (i >= previous.size() || previous[i] == kMissingSample || now[i] == kMissingSample) continue;
    if (now[i] >= previous[i] || columns[i].kind != SampleKind::kCounter) continue;
    flags |= went_round(columns[i], previous[i], now[i]) ? spool::kSampleWrapped : spool::kSampleReset;
  }
  return flags;
}

bool is_stale(std::span<const std::uint64_t> previous, std::span<const std::uint64_t> now, std::uint64_t elapsed_ns,
              std::uint64_t lifespan_ns) {
  return elapsed_ns < lifespan_ns && now.size() <= previous.size() &&
         std::equal(now.begin(), now.end(), previous.begin());
}

}  // namespace jaxprof::netsampler

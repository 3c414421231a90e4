// Bins of whole nanoseconds; the last one holds the largest value.
#include "merge/study/spread_histogram.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Bins {
  std::int64_t least_ns = 0;
  std::int64_t width_ns = 1;
  std::vector<std::int64_t> counts[2];  // raw (or host), net

  void count(std::size_t sample, std::span<const std::int64_t> values_ns) {
    for (const std::int64_t value_ns : values_ns) {
      const auto bin = static_cast<std::size_t>(span_ns(least_ns, value_ns) / width_ns);
      ++counts[sample][std::min(bin, counts[sample].size() - 1)];
    }
  }
};

Bins bins_of(const KindTimes& times, std::size_t n_bins) {
  const std::vector<std::int64_t>& raw_ns = times.raw_ns.empty() ? times.host_ns : times.raw_ns;
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_ns = std::numeric_limits<std::int64_t>::min();
  for (const auto* values : {&raw_ns, &times.net_ns}) {
    for (const std::int64_t value_ns : *values) {
      least_ns = std::min(least_ns, value_ns);
      most_ns = std::max(most_ns, value_ns);
    }
  }
  Bins bins;
  if (least_ns > most_ns) return bins;
  const auto n = static_cast<std::int64_t>(n_bins);
  bins.least_ns = least_ns;
  bins.width_ns = std::max<std::int64_t>(1, span_ns(least_ns, most_ns) / n + 1);
  for (auto& counts : bins.counts) counts.assign(n_bins, 0);
  bins.count(0, raw_ns);
  bins.count(1, times.net_ns);
  return bins;
}

std::string bar(std::int64_t count, std::int64_t most) {
  constexpr std::int64_t kWidth = 30;
  const std::int64_t length = most == 0 ? 0 : (count * kWidth + most - 1) / most;
  std::string text;
  for (std::int64_t i = 0; i < length; ++i) text += "\u2588";
  return text;
}

void add_rows(const KindTimes& times, const Bins& bins, Table& table) {
  const CallKind& kind = times.kind;
  const bool is_gpu = !times.raw_ns.empty();
  std::int64_t most = 0;
  for (const std::int64_t count : bins.counts[0]) most = std::max(most, count);
  for (std::size_t i = 0; i < bins.counts[0].size(); ++i) {
    const std::int64_t begin_ns = bins.least_ns + static_cast<std::int64_t>(i) * bins.width_ns;
    const bool has_net = !times.net_ns.empty();
    table.rows.push_back(
        {std::string(word(kind.coll)), std::string(word(kind.dtype)), std::string(word(kind.algo)),
         std::string(word(kind.proto)), kind.n_ranks == kNoIndex ? Cell{Missing{}} : Cell{std::int64_t{kind.n_ranks}},
         kind.size_bytes == kNoRow ? Cell{Missing{}} : Cell{static_cast<std::int64_t>(kind.size_bytes)},
         std::int64_t{kind.is_grouped}, std::string(is_gpu ? "gpu" : "host"), begin_ns, begin_ns + bins.width_ns,
         bins.counts[0][i], has_net ? Cell{bins.counts[1][i]} : Cell{Missing{}}, bar(bins.counts[0][i], most)});
  }
}

}  // namespace

Table spread_histogram(const CallTimes& calls, const Scope& scope, const StudyOptions& options) {
  Table table;
  table.study = "spread";
  table.heading = "calls by time; raw holds waiting for other ranks, net does not";
  table.columns = {{"op", "op"},
                   {"dtype", "type"},
                   {"algo", "algo", Unit::kNone, true},
                   {"proto", "proto", Unit::kNone, true},
                   {"ranks", "ranks"},
                   {"size_bytes", "size", Unit::kBytes},
                   {"grouped", "grouped", Unit::kNone, true},
                   {"time", "time"},
                   {"begin_ns", "from", Unit::kTimeNs},
                   {"end_ns", "to", Unit::kTimeNs},
                   {"count", "raw"},
                   {"net_count", "net"},
                   {"bar", "raw"}};
  if (options.is_for_programs) table.columns.pop_back();
  std::int64_t n_calls = 0;
  for (const KindTimes& times : calls.kinds) {
    n_calls += times.n_calls;
    add_rows(times, bins_of(times, options.is_for_programs ? kBinsForPrograms : kBinsForPeople), table);
  }
  if (options.is_for_programs) {
    for (Row& row : table.rows) row.pop_back();
  }
  table.verdict = fmt::format("{} call{} of {} kind{}", n_calls, n_calls == 1 ? "" : "s", calls.kinds.size(),
                              calls.kinds.size() == 1 ? "" : "s");
  if (table.rows.empty()) table.empty_reason = "none of these calls has a time";
  if (scope.has_steps()) table.notes.push_back(scope.words());
  return table;
}

}  // namespace jaxprof::study

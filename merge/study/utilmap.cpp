#include "merge/study/utilmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "merge/study/gpu_absence.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/group_axis.h"
#include "merge/study/recorded_time.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::int64_t kBinsForPrograms = 100;
constexpr std::int64_t kBinsForPeople = 32;

// Equal stretches of [begin, begin + n * width).
struct Bins {
  std::int64_t begin_ns = 0;
  std::int64_t width_ns = 1;
  std::size_t n = 0;
  TimeSpan span(std::size_t bin) const {
    const std::int64_t from_ns = instant_after(begin_ns, static_cast<std::int64_t>(bin) * width_ns);
    return {from_ns, instant_after(from_ns, width_ns)};
  }
  std::size_t of(std::int64_t t_ns) const {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, span_ns(begin_ns, t_ns)) / width_ns);
  }
};

struct BinSums {
  std::int64_t wall_ns = 0;
  std::int64_t compute_ns = 0;
  std::int64_t comm_ns = 0;
  std::int64_t both_ns = 0;
};

// Adds the part of `span` in each bin to what place(bin's sums) gives.
template <typename Place>
void spread_over(const Bins& bins, TimeSpan span, std::vector<BinSums>& sums, Place&& place) {
  for (std::size_t bin = bins.of(span.begin_ns); bin < bins.n; ++bin) {
    const TimeSpan of_bin = bins.span(bin);
    if (of_bin.begin_ns >= span.end_ns) return;
    place(sums[bin], std::min(span.end_ns, of_bin.end_ns) - std::max(span.begin_ns, of_bin.begin_ns));
  }
}

// One GPU's time by bin.
class BinLane {
 public:
  BinLane(std::span<const TimeSpan> scope, const Bins& bins) : scope_(scope), bins_(&bins), sums_(bins.n) {
    for (const TimeSpan& span : scope) {
      spread_over(bins, span, sums_, [](BinSums& bin, std::int64_t ns) { bin.wall_ns += ns; });
    }
  }
  void busy(TimeSpan span, unsigned classes) {
    while (next_ < scope_.size() && scope_[next_].end_ns <= span.begin_ns) ++next_;
    for (std::size_t i = next_; i < scope_.size() && scope_[i].begin_ns < span.end_ns; ++i) {
      const TimeSpan common{std::max(span.begin_ns, scope_[i].begin_ns), std::min(span.end_ns, scope_[i].end_ns)};
      spread_over(*bins_, common, sums_, [classes](BinSums& bin, std::int64_t ns) {
        const bool is_compute = (classes & kBusyCompute) != 0;
        const bool is_comm = (classes & kBusyComm) != 0;
        bin.compute_ns += is_compute ? ns : 0;
        bin.comm_ns += is_comm ? ns : 0;
        bin.both_ns += is_compute && is_comm ? ns : 0;
      });
    }
  }
  void idle(TimeSpan, const GpuWork*, const GpuWork*) {}
  const std::vector<BinSums>& sums() const { return sums_; }

 private:
  std::span<const TimeSpan> scope_;
  std::size_t next_ = 0;
  const Bins* bins_;
  std::vector<BinSums> sums_;
};

Bins bins_over(const RunTables& run, const StudyOptions& options, const RecordedTime& time) {
  Bins bins;
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  bins.begin_ns = std::numeric_limits<std::int64_t>::max();
  for (std::size_t process = 0; process < time.n_processes(); ++process) {
    const auto spans = time.of_process(process).spans();
    if (spans.empty() || !is_rank_wanted(run.processes.rank[process], options)) continue;
    bins.begin_ns = std::min(bins.begin_ns, spans.front().begin_ns);
    end_ns = std::max(end_ns, spans.back().end_ns);
  }
  if (bins.begin_ns >= end_ns) return bins;
  const std::int64_t most = options.is_for_programs ? kBinsForPrograms : kBinsForPeople;
  const std::int64_t length_ns = span_ns(bins.begin_ns, end_ns);
  bins.width_ns = length_ns / most + (length_ns % most > 0 ? 1 : 0);
  bins.n = static_cast<std::size_t>(length_ns / bins.width_ns + (length_ns % bins.width_ns > 0 ? 1 : 0));
  return bins;
}

using Map = std::vector<std::vector<BinSums>>;  // [groups][bins]

Result<SweepCounts> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time,
                            const Bins& bins, GroupAxis& groups, Map& map) {
  const auto make = [&](std::size_t process, std::int32_t) { return BinLane(time.of_process(process).spans(), bins); };
  const auto add = [](std::int64_t& sum_ns, std::int64_t ns) { sum_ns = instant_after(sum_ns, ns); };
  const auto done = [&](std::size_t process, std::int32_t device, const BinLane& lane) {
    const std::uint32_t group = groups.group_of(process, device);
    if (map.size() <= group) map.resize(group + 1, std::vector<BinSums>(bins.n));
    for (std::size_t bin = 0; bin < bins.n; ++bin) {
      add(map[group][bin].wall_ns, lane.sums()[bin].wall_ns);
      add(map[group][bin].compute_ns, lane.sums()[bin].compute_ns);
      add(map[group][bin].comm_ns, lane.sums()[bin].comm_ns);
      add(map[group][bin].both_ns, lane.sums()[bin].both_ns);
    }
  };
  return sweep_gpus(run, options, false, make, done);
}

void add_bin_rows(const Map& map, const Bins& bins, const GroupAxis& groups, Table& table) {
  append(table.columns, {{"bin", "bin"},
                         {"begin_ns", "at", Unit::kTimeNs},
                         {"end_ns", "to", Unit::kTimeNs},
                         {"wall_ns", "wall", Unit::kTimeNs},
                         {"compute", "compute", Unit::kShare},
                         {"comm", "comm", Unit::kShare},
                         {"both", "both", Unit::kShare}});
  for (const std::uint32_t group : groups.in_order()) {
    for (std::size_t bin = 0; bin < bins.n; ++bin) {
      const BinSums& sums = map[group][bin];
      Row row = groups.cells(group);
      append(row, {static_cast<std::int64_t>(bin), bins.span(bin).begin_ns, bins.span(bin).end_ns, sums.wall_ns,
                   share_cell(sums.compute_ns, sums.wall_ns), share_cell(sums.comm_ns, sums.wall_ns),
                   share_cell(sums.both_ns, sums.wall_ns)});
      table.rows.push_back(std::move(row));
    }
  }
}

std::string bar_of(const std::vector<BinSums>& bins, std::int64_t BinSums::*part) {
  constexpr std::array<const char*, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string bar;
  for (const BinSums& bin : bins) {
    if (bin.wall_ns <= 0) {
      bar += "·";
      continue;
    }
    const double eighths = 8 * static_cast<double>(bin.*part) / static_cast<double>(bin.wall_ns);
    bar += kBlocks[static_cast<std::size_t>(std::clamp(std::lround(eighths), 0L, 8L))];
  }
  return bar;
}

void add_bars(const Map& map, const GroupAxis& groups, Table& table) {
  append(table.columns, {{"compute", "compute"}, {"comm", "comm"}, {"both", "both"}});
  for (const std::uint32_t group : groups.in_order()) {
    Row row = groups.cells(group);
    append(row, {bar_of(map[group], &BinSums::compute_ns), bar_of(map[group], &BinSums::comm_ns),
                 bar_of(map[group], &BinSums::both_ns)});
    table.rows.push_back(std::move(row));
  }
}

std::string verdict_of(const Map& map) {
  BinSums all;
  for (const auto& bins : map) {
    for (const BinSums& bin : bins) {
      all.wall_ns = instant_after(all.wall_ns, bin.wall_ns);
      all.compute_ns = instant_after(all.compute_ns, bin.compute_ns);
      all.comm_ns = instant_after(all.comm_ns, bin.comm_ns);
      all.both_ns = instant_after(all.both_ns, bin.both_ns);
    }
  }
  const auto percent = [&all](std::int64_t ns) {
    return all.wall_ns > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(all.wall_ns) : 0;
  };
  return fmt::format("compute {:.1f} %, communication {:.1f} %, both at once {:.1f} % of GPU time",
                     percent(all.compute_ns), percent(all.comm_ns), percent(all.both_ns));
}

}  // namespace

bool utilmap_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || gpu_work_wants(path);
}

Result<Table> utilmap(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kUtilmap.name;
  table.verdict = "no GPU time";
  GroupAxis groups(run.tables, options.by.value_or(By::kRank));
  table.columns = groups.columns();
  const RecordedTime time(run.tables, options);
  const Bins bins = bins_over(run.tables, options, time);
  Map map;
  if (has_gpu_work(run.tables) && bins.n > 0) {
    const auto counts = collect(run, options, time, bins, groups, map);
    if (!counts) return tl::unexpected(counts.error());
    table.notes = notes_of(*counts);
  }
  if (options.is_for_programs) {
    add_bin_rows(map, bins, groups, table);
  } else {
    add_bars(map, groups, table);
  }
  if (table.rows.empty()) {
    table.empty_reason = has_gpu_work(run.tables) ? fmt::format("none of the time in which GPUs were recorded is in {}",
                                                                time.scope().words())
                                                  : why_no_gpu_rows(run.tables, "kernels or copies");
    return table;
  }
  table.verdict = verdict_of(map);
  table.heading = fmt::format("{} bins over {}", bins.n, time.scope().words());
  table.notes.emplace_back("definitions: jaxprof-study utilmap --explain");
  return table;
}

}  // namespace jaxprof::study

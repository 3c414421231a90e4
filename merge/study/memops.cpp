#include "merge/study/memops.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <set>

#include "merge/study/bandwidth.h"
#include "merge/study/gpu_absence.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/group_axis.h"
#include "merge/study/grouped_sums.h"
#include "merge/study/human.h"
#include "merge/study/process_rows.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Kind {
  MemopKind kind = MemopKind::kMissing;
  auto operator<=>(const Kind&) const = default;
  std::uint64_t hash() const { return static_cast<std::uint64_t>(kind) << 32; }
};

struct Sums {
  ValueCounts ns;
  ValueCounts bytes;
  std::int64_t n_pageable = 0;
  std::int64_t n_nccl = 0;
  // Of those that have both.
  std::uint64_t moved_bytes = 0;
  std::int64_t moving_ns = 0;
  template <typename F>
  void for_each_sample(F&& f) {
    f(ns);
    f(bytes);
  }
};

struct Answer {
  GroupedSums<Kind, Sums> sums;
  std::vector<std::int64_t> wall_ns;  // [groups]
  SweepCounts counts;
  std::int64_t all_ns = 0;
};

bool is_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/memops/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  return path == "start_ns" || path == "dur_ns" || path == "kind" || path == "bytes" || path == "src" ||
         path == "dst" || path == "device" || path == "flags";
}

void add(const MemopTable& t, std::size_t i, bool is_nccl, Sums& sums) {
  sums.ns.add(t.dur_ns[i]);
  sums.n_nccl += is_nccl ? 1 : 0;
  sums.n_pageable += t.src[i] == MemoryKind::kPageable || t.dst[i] == MemoryKind::kPageable ? 1 : 0;
  if (t.bytes[i] == kNoRow) return;
  sums.bytes.add(
      static_cast<std::int64_t>(std::min<std::uint64_t>(t.bytes[i], std::numeric_limits<std::int64_t>::max())));
  sums.moved_bytes += t.bytes[i];
  sums.moving_ns = instant_after(sums.moving_ns, t.dur_ns[i]);
}

// The recorded time of each GPU counts once for each process that used it, whether it copied there or not.
class Walls {
 public:
  Walls(const StudyRun& run, const StudyOptions& options, const RecordedTime& time, GroupAxis& groups,
        std::vector<std::int64_t>& wall_ns)
      : time_(time), groups_(groups), wall_ns_(wall_ns) {
    for (std::size_t process = 0; process < time.n_processes(); ++process) {
      if (!is_rank_wanted(run.tables.processes.rank[process], options)) continue;
      for (const std::int32_t device : own_devices(run.tables, process)) add(process, device);
    }
  }
  std::uint32_t group_of(std::size_t process, std::int32_t device) {
    if (last_ != std::pair(process, device)) add(process, device);
    return groups_.group_of(process, device);
  }

 private:
  void add(std::size_t process, std::int32_t device) {
    last_ = {process, device};
    if (!seen_.insert(last_).second) return;
    const std::uint32_t group = groups_.group_of(process, device);
    wall_ns_.resize(std::max(wall_ns_.size(), groups_.size()));
    wall_ns_[group] = instant_after(wall_ns_[group], time_.of_process(process).length_ns());
  }
  const RecordedTime& time_;
  GroupAxis& groups_;
  std::vector<std::int64_t>& wall_ns_;
  std::pair<std::size_t, std::int32_t> last_{std::numeric_limits<std::size_t>::max(), -1};
  std::set<std::pair<std::size_t, std::int32_t>> seen_;
};

Result<Answer> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time, GroupAxis& groups) {
  Answer answer;
  const auto comm = CommWork::load(run.reader, run.tables.strings);
  if (!comm) return tl::unexpected(comm.error());
  Walls walls(run, options, time, groups, answer.wall_ns);
  const auto take = [&](const ProcessRows<MemopTable>& rows, Walker& in_scope) {
    const MemopTable& t = rows.table;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) {
        ++answer.counts.n_without_time;
      } else if ((t.flags[i] & kWorkOutside) != 0) {
        ++answer.counts.n_outside;
      } else if (in_scope.contains(t.start_ns[i])) {
        const std::uint32_t group = walls.group_of(rows.process, t.device[i]);
        add(t, i, comm->is_comm_memop(rows.first + i), answer.sums.of(group, {t.kind[i]}));
      }
    }
    answer.sums.keep_small();
  };
  const auto read =
      for_process_rows<MemopTable>(run, options, time, run.tables.memop_process_offset, is_column_wanted, take);
  if (!read) return tl::unexpected(read.error());
  for (const auto& [key, sums] : answer.sums.all()) answer.all_ns = instant_after(answer.all_ns, sums.ns.total());
  return answer;
}

Cell bandwidth_cell(const Sums& sums) {
  if (sums.moving_ns <= 0) return Missing{};
  return gb_per_s(sums.moved_bytes, static_cast<double>(sums.moving_ns));
}

std::vector<Column> columns(const GroupAxis& groups) {
  std::vector<Column> all = {{"operation", "operation"}};
  append(all, groups.columns());
  append(all, {{"time_share", "time %", Unit::kShare}, {"wall_share", "of wall", Unit::kShare}, {"count", "count"}});
  append(all, time_columns("", ""));
  append(all, size_columns());
  append(all,
         {{"gb_per_s", "bandwidth", Unit::kGbPerS}, {"pageable", "pageable"}, {"nccl", "nccl", Unit::kNone, true}});
  return all;
}

Row row_of(const Kind& kind, std::uint32_t group, const Sums& sums, const Answer& answer, const GroupAxis& groups) {
  Row row = {std::string(word(kind.kind))};
  append(row, groups.cells(group));
  append(row, {share_cell(sums.ns.total(), answer.all_ns), share_cell(sums.ns.total(), answer.wall_ns[group]),
               static_cast<std::int64_t>(sums.ns.n())});
  append(row, sum_cells(sums.ns));
  append(row, sum_cells(sums.bytes));
  append(row, {bandwidth_cell(sums), sums.n_pageable, sums.n_nccl});
  return row;
}

// "640 copies and sets, 41 ms, 12 GiB; longest: HtoD, 81.3 % of the time, 21.4 GB/s".
std::string verdict_of(const Answer& answer) {
  std::int64_t n = 0;
  std::int64_t bytes = 0;
  std::map<MemopKind, Sums> kinds;
  for (const auto& [key, sums] : answer.sums.all()) {
    n += static_cast<std::int64_t>(sums.ns.n());
    bytes = instant_after(bytes, sums.bytes.total());
    Sums& kind = kinds[key.first.kind];
    kind.ns.add(sums.ns.total());
    kind.moved_bytes += sums.moved_bytes;
    kind.moving_ns = instant_after(kind.moving_ns, sums.moving_ns);
  }
  const auto longest = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.ns.total() < b.second.ns.total();
  });
  std::string text = fmt::format("{} copies and sets, {}, {}", n, human_time(static_cast<double>(answer.all_ns)),
                                 human_bytes(static_cast<double>(bytes)));
  if (answer.all_ns <= 0) return text;
  text += fmt::format("; longest: {}, {:.1f} % of the time", word(longest->first),
                      100 * static_cast<double>(longest->second.ns.total()) / static_cast<double>(answer.all_ns));
  if (longest->second.moving_ns > 0) {
    text += fmt::format(", {:.1f} GB/s",
                        gb_per_s(longest->second.moved_bytes, static_cast<double>(longest->second.moving_ns)));
  }
  return text;
}

}  // namespace

bool memops_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || path == "/events/memops/process_offset";
}

Result<Table> memops(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kMemops.name;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, options.by.value_or(By::kRun));
  auto answer = collect(run, options, time, groups);
  if (!answer) return tl::unexpected(answer.error());
  table.columns = columns(groups);
  if (answer->sums.empty()) {
    table.verdict = "no copies or sets of GPU memory";
    const bool has_any = run.tables.memop_process_offset.back() > 0;
    table.empty_reason = has_any ? why_none_fits(options, time.scope().words(), "copies and sets")
                                 : why_no_gpu_rows(run.tables, "copies or sets of GPU memory");
    return table;
  }
  std::vector<const std::pair<const std::pair<Kind, std::uint32_t>, Sums>*> rows;
  for (const auto& row : answer->sums.all()) rows.push_back(&row);
  if (groups.by() == By::kRun) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto* a, const auto* b) { return a->second.ns.total() > b->second.ns.total(); });
  }
  for (const auto* row : rows) {
    table.rows.push_back(row_of(row->first.first, row->first.second, row->second, *answer, groups));
  }
  table.verdict = verdict_of(*answer);
  table.heading = "GPU time of copies and sets; " + time.scope().words();
  for (std::string& note : notes_of(answer->counts)) table.notes.push_back(std::move(note));
  if (const std::size_t n = answer->sums.n_rounded(); n > 0) table.notes.push_back(rounding_note(n));
  table.notes.emplace_back("definitions: jaxprof-study memops --explain");
  return table;
}

}  // namespace jaxprof::study

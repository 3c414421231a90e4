#include "merge/study/nvtx.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "merge/study/gpu_absence.h"
#include "merge/study/group_axis.h"
#include "merge/study/grouped_sums.h"
#include "merge/study/human.h"
#include "merge/study/process_rows.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct RangeKind {
  StringId domain{};
  StringId name{};
  NvtxKind kind = NvtxKind::kMissing;
  auto operator<=>(const RangeKind&) const = default;
  std::uint64_t hash() const {
    return (static_cast<std::uint64_t>(name) << 32 | static_cast<std::uint64_t>(domain) << 4) +
           static_cast<std::uint64_t>(kind);
  }
};

struct Sums {
  ValueCounts ns;
  ValueCounts gpu_ns;
  std::int64_t child_ns = 0;
  std::int64_t n_children = 0;
  std::int64_t n_ops = 0;
  std::int64_t depth = 0;  // summed
  template <typename F>
  void for_each_sample(F&& f) {
    f(ns);
    f(gpu_ns);
  }
};

bool is_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/nvtx/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  return path == "start_ns" || path == "dur_ns" || path == "name" || path == "domain" || path == "kind" ||
         path == "depth" || path == "parent" || path == "gpu_dur_ns" || path == "gpu_ops";
}

class Collecting {
 public:
  Collecting(const RunTables& run, GroupAxis& groups) : run_(run), groups_(groups) {}

  void take(const ProcessRows<NvtxTable>& rows, Walker& in_scope) {
    if (rows.process != process_) begin(rows.process);
    const std::uint32_t group = groups_.group_of(rows.process, -1);
    const NvtxTable& t = rows.table;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      if (t.kind[i] != NvtxKind::kPushPop && t.kind[i] != NvtxKind::kStartEnd) continue;
      if (t.start_ns[i] < 0 || !in_scope.contains(t.start_ns[i])) continue;
      if (t.dur_ns[i] < 0) {
        ++n_never_ended_;
        continue;
      }
      Sums& sums = sums_.of(group, {t.domain[i], t.name[i], t.kind[i]});
      add(t, i, sums);
      remember(rows.first + i, sums);
      if (t.parent[i] != kNoRow) add_child(t.parent[i], t.dur_ns[i]);
    }
    sums_.keep_small();
  }
  void finish() {
    for (const auto& [parent, dur_ns] : waiting_) {
      if (Sums* sums = known(parent); sums != nullptr) add_to(*sums, dur_ns);
    }
    waiting_.clear();
  }

  GroupedSums<RangeKind, Sums>& sums() { return sums_; }
  std::int64_t n_never_ended() const { return n_never_ended_; }

 private:
  void begin(std::size_t process) {
    finish();
    process_ = process;
    first_ = run_.nvtx_process_offset[process];
    numbers_.clear();
  }
  static void add(const NvtxTable& t, std::size_t i, Sums& sums) {
    sums.ns.add(t.dur_ns[i]);
    sums.depth += t.depth[i] == kNoShort ? 0 : t.depth[i];
    if (!t.gpu_dur_ns.empty() && t.gpu_dur_ns[i] >= 0) sums.gpu_ns.add(t.gpu_dur_ns[i]);
    if (!t.gpu_ops.empty() && t.gpu_ops[i] != kNoIndex) sums.n_ops += t.gpu_ops[i];
  }
  static void add_to(Sums& parent, std::int64_t child_ns) {
    parent.child_ns = instant_after(parent.child_ns, child_ns);
    ++parent.n_children;
  }
  // A row of the process is found again by its number, which is smaller than a pointer.
  void remember(std::uint64_t row, Sums& sums) {
    const auto [at, is_new] = number_of_.try_emplace(&sums, static_cast<std::uint32_t>(by_number_.size()));
    if (is_new) by_number_.push_back(&sums);
    numbers_.resize(row - first_ + 1, kNoIndex);
    numbers_[row - first_] = at->second;
  }
  Sums* known(std::uint64_t row) const {
    if (row < first_ || row - first_ >= numbers_.size() || numbers_[row - first_] == kNoIndex) return nullptr;
    return by_number_[numbers_[row - first_]];
  }
  // A range that began with the one around it may come before it.
  void add_child(std::uint64_t parent, std::int64_t dur_ns) {
    if (Sums* sums = known(parent); sums != nullptr) {
      add_to(*sums, dur_ns);
    } else if (parent >= first_ + numbers_.size()) {
      waiting_.emplace_back(parent, dur_ns);
    }
  }

  const RunTables& run_;
  GroupAxis& groups_;
  GroupedSums<RangeKind, Sums> sums_;
  std::int64_t n_never_ended_ = 0;
  std::size_t process_ = std::numeric_limits<std::size_t>::max();
  std::uint64_t first_ = 0;
  std::vector<std::uint32_t> numbers_;  // of the process's rows: position in by_number_
  std::vector<Sums*> by_number_;
  std::unordered_map<const Sums*, std::uint32_t> number_of_;
  std::vector<std::pair<std::uint64_t, std::int64_t>> waiting_;
};

std::vector<Column> columns(const GroupAxis& groups) {
  std::vector<Column> all = {{"range", "range"}, {"kind", "kind"}};
  append(all, groups.columns());
  append(all, {{"time_share", "time %", Unit::kShare}, {"count", "count"}});
  append(all, time_columns("", ""));
  append(all, {{"self_ns", "self", Unit::kTimeNs}});
  append(all, time_columns("gpu_", "gpu "));
  for (Column& column : all) {
    const std::string& name = column.name;
    column.is_detail = column.is_detail || name == "std_ns" || name == "gpu_min_ns" || name == "gpu_max_ns" ||
                       name == "gpu_std_ns" || name == "min_ns";
  }
  append(all, {{"gpu_count", "gpu count", Unit::kNone, true},
               {"gpu_ops", "ops"},
               {"depth", "depth", Unit::kNone, true},
               {"children", "children", Unit::kNone, true},
               {"domain", "domain", Unit::kNone, true},
               {"name", "name", Unit::kNone, true}});
  return all;
}

std::string range_name(const RunTables& run, const RangeKind& range) {
  const std::string domain(run.strings.text(range.domain));
  return (domain.empty() ? "" : domain + ":") + std::string(run.strings.text(range.name));
}

Row row_of(const RunTables& run, const RangeKind& range, std::uint32_t group, const Sums& sums, std::int64_t all_ns,
           const GroupAxis& groups) {
  const auto n = static_cast<std::int64_t>(sums.ns.n());
  Row row = {range_name(run, range), std::string(word(range.kind))};
  append(row, groups.cells(group));
  append(row, {share_cell(sums.ns.total(), all_ns), n});
  append(row, sum_cells(sums.ns));
  append(row, {span_ns(sums.child_ns, sums.ns.total())});
  append(row, sum_cells(sums.gpu_ns));
  append(row, {static_cast<std::int64_t>(sums.gpu_ns.n()), sums.n_ops, share_cell(sums.depth, n),
               share_cell(sums.n_children, n), std::string(run.strings.text(range.domain)),
               std::string(run.strings.text(range.name))});
  return row;
}

std::string why_empty(const RunTables& run, const StudyOptions& options, const std::string& scope_words) {
  if (run.nvtx_process_offset.back() > 0) return why_none_fits(options, scope_words, "NVTX ranges");
  if (!is_asked_for(run, "nvtx")) {
    return "the run file has no NVTX ranges: -t " + run.attributes.trace + " did not ask for them; add nvtx to it";
  }
  return "the run file has no NVTX ranges: the program, its libraries and NCCL pushed none while events were recorded";
}

}  // namespace

bool nvtx_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || path == "/events/nvtx/process_offset";
}

Result<Table> nvtx(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kNvtx.name;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, options.by.value_or(By::kRun));
  Collecting collecting(run.tables, groups);
  const auto read = for_process_rows<NvtxTable>(
      run, options, time, run.tables.nvtx_process_offset, is_column_wanted,
      [&](const ProcessRows<NvtxTable>& rows, Walker& in_scope) { collecting.take(rows, in_scope); });
  if (!read) return tl::unexpected(read.error());
  collecting.finish();
  table.columns = columns(groups);
  if (collecting.n_never_ended() > 0) {
    table.notes.push_back(fmt::format("left out: {} ranges that never ended", collecting.n_never_ended()));
  }
  if (collecting.sums().empty()) {
    table.verdict = "no NVTX ranges";
    table.empty_reason = why_empty(run.tables, options, time.scope().words());
    return table;
  }
  std::map<RangeKind, std::int64_t> totals;
  std::int64_t all_ns = 0;
  std::uint64_t n = 0;
  for (const auto& [key, sums] : collecting.sums().all()) {
    totals[key.first] = instant_after(totals[key.first], sums.ns.total());
    all_ns = instant_after(all_ns, sums.ns.total());
    n += sums.ns.n();
  }
  std::vector<const std::pair<const std::pair<RangeKind, std::uint32_t>, Sums>*> rows;
  for (const auto& row : collecting.sums().all()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto* a, const auto* b) { return totals.at(a->first.first) > totals.at(b->first.first); });
  for (const auto* row : rows) {
    table.rows.push_back(row_of(run.tables, row->first.first, row->first.second, row->second, all_ns, groups));
  }
  const RangeKind& longest = rows.front()->first.first;
  table.verdict =
      fmt::format("{} ranges of {} name{}; longest: {}, {} in all", n, totals.size(), totals.size() == 1 ? "" : "s",
                  range_name(run.tables, longest), human_time(static_cast<double>(totals.at(longest))));
  table.heading = "time of NVTX ranges on the host, and of what they launched on the GPU; " + time.scope().words();
  if (const std::size_t rounded = collecting.sums().n_rounded(); rounded > 0) {
    table.notes.push_back(rounding_note(rounded));
  }
  table.notes.emplace_back("definitions: jaxprof-study nvtx --explain");
  return table;
}

}  // namespace jaxprof::study

#include "merge/study/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>

#include "merge/study/comm_kind.h"
#include "merge/study/group_axis.h"
#include "merge/study/grouped_sums.h"
#include "merge/study/human.h"
#include "merge/study/process_rows.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Operation {
  Coll coll = Coll::kMissing;
  Dtype dtype = Dtype::kMissing;
  std::uint64_t size_bytes = kNoRow;
  auto operator<=>(const Operation&) const = default;
  std::uint64_t hash() const {
    return size_bytes * 0xBF58476D1CE4E5B9ULL + (static_cast<std::uint64_t>(coll) << 40) +
           (static_cast<std::uint64_t>(dtype) << 32);
  }
};

struct Sums {
  ValueCounts gpu_ns;
  ValueCounts host_ns;
  std::int64_t n_calls = 0;
  std::int64_t n_replays = 0;
  ValueCounts captured_host_ns;  // of calls that count only where no replay was seen
  std::int64_t n_captured = 0;
  template <typename F>
  void for_each_sample(F&& f) {
    f(gpu_ns);
    f(host_ns);
    f(captured_host_ns);
  }
  bool is_gpu() const { return gpu_ns.n() > 0; }
  const ValueCounts& ns() const { return is_gpu() ? gpu_ns : host_ns; }
};

bool is_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/nccl/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  constexpr std::array<std::string_view, 11> kColumns = {"start_ns", "end_api_ns", "gpu_dur_ns", "comm",
                                                         "device",   "coll",       "dtype",      "size_bytes",
                                                         "parent",   "graph",      "replay"};
  return std::find(kColumns.begin(), kColumns.end(), path) != kColumns.end();
}

void add(const NcclTable& t, std::size_t i, Sums& sums) {
  const bool is_capture = t.graph[i] == 1 && t.replay[i] == kNoRow;
  ++(is_capture ? sums.n_captured : sums.n_calls);
  if (t.replay[i] != kNoRow) ++sums.n_replays;
  if (t.gpu_dur_ns[i] >= 0) sums.gpu_ns.add(t.gpu_dur_ns[i]);
  if (t.end_api_ns[i] >= 0) {
    const std::int64_t host_ns = std::max<std::int64_t>(0, span_ns(t.start_ns[i], t.end_api_ns[i]));
    (is_capture ? sums.captured_host_ns : sums.host_ns).add(host_ns);
  }
}

using Operations = GroupedSums<Operation, Sums>;
using OperationRow = std::pair<const std::pair<Operation, std::uint32_t>, Sums>;

Result<Operations> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time,
                           GroupAxis& groups) {
  Operations operations;
  const bool is_by_comm = options.by == By::kComm;
  const auto take = [&](const ProcessRows<NcclTable>& rows, Walker& in_scope) {
    const NcclTable& t = rows.table;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      if (t.parent[i] != kNoRow || (options.op && t.coll[i] != *options.op)) continue;
      if (t.start_ns[i] < 0 || !in_scope.contains(t.start_ns[i])) continue;
      const std::uint32_t group = is_by_comm ? t.comm[i] : groups.group_of(rows.process, t.device[i]);
      add(t, i, operations.of(group, {t.coll[i], t.dtype[i], t.size_bytes[i]}));
    }
    operations.keep_small();
  };
  const auto read =
      for_process_rows<NcclTable>(run, options, time, run.tables.nccl_process_offset, is_column_wanted, take);
  if (!read) return tl::unexpected(read.error());
  for (auto& [key, sums] : operations.all()) {
    if (sums.n_replays > 0) continue;
    sums.n_calls += sums.n_captured;
    sums.host_ns.add_all(sums.captured_host_ns);
  }
  std::erase_if(operations.all(), [](const auto& row) { return row.second.n_calls == 0; });
  return operations;
}

std::vector<Column> label_columns(const GroupAxis& groups, bool is_by_comm) {
  if (!is_by_comm) return groups.columns();
  return {{"comm", "comm"},
          {"comm_name", "name", Unit::kNone, true},
          {"comm_hash", "hash", Unit::kNone, true},
          {"comm_ranks", "ranks"},
          {"comm_nodes", "nodes"},
          {"over", "over"}};
}

Cell count_cell(std::uint32_t n) {
  return n == kNoIndex ? Cell{Missing{}} : Cell{std::int64_t{n}};
}

Row label_cells(const RunTables& run, const GroupAxis& groups, bool is_by_comm, std::uint32_t group) {
  if (!is_by_comm) return groups.cells(group);
  const CommTable& t = run.comms;
  if (group >= t.comm.size()) return {Missing{}, Missing{}, Missing{}, Missing{}, Missing{}, std::string("unknown")};
  return {std::int64_t{group},
          std::string(run.strings.text(t.name[group])),
          t.hash[group] == kNoRow ? Cell{Missing{}} : Cell{fmt::format("{:#x}", t.hash[group])},
          count_cell(t.n_ranks[group]),
          count_cell(t.n_nodes[group]),
          std::string(word(kind_of_comm(t, group)))};
}

std::vector<Column> columns(const GroupAxis& groups, bool is_by_comm) {
  std::vector<Column> all = {{"op", "op"}, {"dtype", "type"}, {"size_bytes", "size", Unit::kBytes}};
  append(all, label_columns(groups, is_by_comm));
  append(all,
         {{"count", "count"}, {"time", "time"}, {"n", "n", Unit::kNone, true}, {"time_share", "time %", Unit::kShare}});
  append(all, time_columns("", ""));
  append(all, {{"all_bytes", "all sizes", Unit::kBytes}});
  return all;
}

Cell size_cell(const Operation& operation) {
  if (operation.size_bytes > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return Missing{};
  return static_cast<std::int64_t>(operation.size_bytes);
}

Cell all_bytes_cell(const Operation& operation, std::int64_t n_calls) {
  if (operation.size_bytes == kNoRow) return Missing{};
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(operation.size_bytes, n_calls, &bytes)) return Missing{};
  return bytes;
}

struct Totals {
  std::int64_t gpu_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t n_calls = 0;
};

Totals totals_of(const Operations& operations) {
  Totals totals;
  for (const auto& [key, sums] : operations.all()) {
    totals.n_calls += sums.n_calls;
    std::int64_t& total_ns = sums.is_gpu() ? totals.gpu_ns : totals.host_ns;
    total_ns = instant_after(total_ns, sums.ns().total());
  }
  return totals;
}

Row row_of(const RunTables& run, const OperationRow& entry, const Totals& totals, const GroupAxis& groups,
           bool is_by_comm) {
  const auto& [operation, group] = entry.first;
  const Sums& sums = entry.second;
  Row row = {std::string(word(operation.coll)), std::string(word(operation.dtype)), size_cell(operation)};
  append(row, label_cells(run, groups, is_by_comm, group));
  append(row, {sums.n_calls, std::string(sums.is_gpu() ? "gpu" : "host"), static_cast<std::int64_t>(sums.ns().n()),
               share_cell(sums.ns().total(), sums.is_gpu() ? totals.gpu_ns : totals.host_ns)});
  append(row, sum_cells(sums.ns()));
  append(row, {all_bytes_cell(operation, sums.n_calls)});
  return row;
}

// "40000 calls of 5 operations; longest: AllReduce, 81.2 % of the GPU time".
std::string verdict_of(const Operations& operations, const Totals& totals) {
  std::map<Coll, std::int64_t> by_op;
  const bool is_gpu = totals.gpu_ns > 0;
  for (const auto& [key, sums] : operations.all()) {
    std::int64_t& total_ns = by_op[key.first.coll];
    if (sums.is_gpu() == is_gpu) total_ns = instant_after(total_ns, sums.ns().total());
  }
  const auto longest =
      std::max_element(by_op.begin(), by_op.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = fmt::format("{} call{} of {} operation{}", totals.n_calls, totals.n_calls == 1 ? "" : "s",
                                 by_op.size(), by_op.size() == 1 ? "" : "s");
  const std::int64_t all_ns = is_gpu ? totals.gpu_ns : totals.host_ns;
  if (all_ns <= 0) return text;
  return text + fmt::format("; longest: {}, {:.1f} % of the {} of {}", word(longest->first),
                            100 * static_cast<double>(longest->second) / static_cast<double>(all_ns),
                            is_gpu ? "GPU time" : "host time", human_time(static_cast<double>(all_ns)));
}

std::string why_empty(const RunTables& run, const StudyOptions& options, const std::string& scope_words) {
  if (run.nccl_process_offset.back() == 0 && !is_asked_for(run, "nccl")) {
    return "the run file has no NCCL calls: -t " + run.attributes.trace + " did not ask for them; add nccl to it";
  }
  if (run.nccl_process_offset.back() == 0) {
    return "the run file has no NCCL calls: neither NCCL's profiler plugin nor its NVTX ranges reported one; "
           "jaxprof-study summary lists what is missing";
  }
  std::string filters;
  if (options.op) filters += " --op " + std::string(word(*options.op));
  if (!options.ranks.empty()) filters += " --ranks " + options.ranks;
  return fmt::format("none of the run file's NCCL calls{} began in {}", filters.empty() ? "" : " of" + filters,
                     scope_words);
}

}  // namespace

bool nccl_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || path.starts_with("/comms/") ||
         path == "/events/nccl/process_offset";
}

Result<Table> nccl(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kNccl.name;
  const bool is_by_comm = options.by == By::kComm;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, is_by_comm ? By::kRun : options.by.value_or(By::kRun));
  auto operations = collect(run, options, time, groups);
  if (!operations) return tl::unexpected(operations.error());
  table.columns = columns(groups, is_by_comm);
  if (operations->empty()) {
    table.verdict = "no NCCL calls";
    table.empty_reason = why_empty(run.tables, options, time.scope().words());
    return table;
  }
  const Totals totals = totals_of(*operations);
  std::vector<const OperationRow*> rows;
  for (const auto& row : operations->all()) rows.push_back(&row);
  if (groups.by() == By::kRun && !is_by_comm) {
    std::stable_sort(rows.begin(), rows.end(), [](const OperationRow* a, const OperationRow* b) {
      return a->second.ns().total() > b->second.ns().total();
    });
  }
  for (const OperationRow* row : rows) {
    table.rows.push_back(row_of(run.tables, *row, totals, groups, is_by_comm));
  }
  table.verdict = verdict_of(*operations, totals);
  table.heading = "time of NCCL calls; " + time.scope().words();
  if (totals.gpu_ns == 0) table.notes.emplace_back("time host: enqueue, not transfer; this run file has no GPU times");
  if (const std::size_t n = operations->n_rounded(); n > 0) table.notes.push_back(rounding_note(n));
  table.notes.emplace_back("definitions: jaxprof-study nccl --explain");
  return table;
}

}  // namespace jaxprof::study

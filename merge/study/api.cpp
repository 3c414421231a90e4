#include "merge/study/api.h"

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

struct Function {
  StringId name{};
  ApiLayer layer = ApiLayer::kMissing;
  auto operator<=>(const Function&) const = default;
  std::uint64_t hash() const {
    return static_cast<std::uint64_t>(name) << 40 | static_cast<std::uint64_t>(layer) << 32;
  }
};

struct Sums {
  ValueCounts ns;
  std::int64_t n_failed = 0;
  template <typename F>
  void for_each_sample(F&& f) {
    f(ns);
  }
};

struct Answer {
  GroupedSums<Function, Sums> sums;
  std::map<Function, std::int64_t> total_ns;  // over all groups
  std::int64_t all_ns = 0;
  std::int64_t n_without_time = 0;
  std::int64_t n_outside = 0;
};

bool is_column_wanted(std::string_view path) {
  constexpr std::string_view kTable = "/events/api/";
  if (!path.starts_with(kTable)) return false;
  path.remove_prefix(kTable.size());
  return path == "start_ns" || path == "dur_ns" || path == "name" || path == "layer" || path == "result" ||
         path == "flags";
}

Result<Answer> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time, GroupAxis& groups) {
  Answer answer;
  const auto take = [&](const ProcessRows<ApiTable>& rows, Walker& in_scope) {
    const ApiTable& t = rows.table;
    for (std::size_t i = rows.begin; i < rows.end; ++i) {
      if (t.start_ns[i] < 0 || t.dur_ns[i] < 0) {
        ++answer.n_without_time;
      } else if ((t.flags[i] & kWorkOutside) != 0) {
        ++answer.n_outside;
      } else if (in_scope.contains(t.start_ns[i])) {
        Sums& sums = answer.sums.of(groups.group_of(rows.process, -1), {t.name[i], t.layer[i]});
        sums.ns.add(t.dur_ns[i]);
        sums.n_failed += t.result[i] > 0 ? 1 : 0;
      }
    }
    answer.sums.keep_small();
  };
  const auto read =
      for_process_rows<ApiTable>(run, options, time, run.tables.api_process_offset, is_column_wanted, take);
  if (!read) return tl::unexpected(read.error());
  for (const auto& [key, sums] : answer.sums.all()) {
    std::int64_t& total_ns = answer.total_ns[key.first];
    total_ns = instant_after(total_ns, sums.ns.total());
    answer.all_ns = instant_after(answer.all_ns, sums.ns.total());
  }
  return answer;
}

std::vector<Column> columns(const GroupAxis& groups) {
  std::vector<Column> all = {{"function", "function"}, {"layer", "layer"}};
  append(all, groups.columns());
  append(all, {{"time_share", "time %", Unit::kShare}, {"count", "count"}});
  append(all, time_columns("", ""));
  append(all, {{"failed", "failed"}});
  return all;
}

Row row_of(const RunTables& run, const Function& function, std::uint32_t group, const Sums& sums, const Answer& answer,
           const GroupAxis& groups) {
  Row row = {std::string(run.strings.text(function.name)), std::string(word(function.layer))};
  append(row, groups.cells(group));
  append(row, {share_cell(sums.ns.total(), answer.all_ns), static_cast<std::int64_t>(sums.ns.n())});
  append(row, sum_cells(sums.ns));
  append(row, {sums.n_failed});
  return row;
}

// "8960 calls of 3 functions, 31 ms; longest: cuLaunchKernel, 92 % of it; 2 failed".
std::string verdict_of(const RunTables& run, const Answer& answer) {
  std::uint64_t n = 0;
  std::int64_t n_failed = 0;
  for (const auto& [key, sums] : answer.sums.all()) {
    n += sums.ns.n();
    n_failed += sums.n_failed;
  }
  const auto longest = std::max_element(answer.total_ns.begin(), answer.total_ns.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text =
      fmt::format("{} calls of {} function{}, {}", n, answer.total_ns.size(), answer.total_ns.size() == 1 ? "" : "s",
                  human_time(static_cast<double>(answer.all_ns)));
  if (answer.all_ns > 0) {
    text += fmt::format("; longest: {}, {:.1f} % of it", run.strings.text(longest->first.name),
                        100 * static_cast<double>(longest->second) / static_cast<double>(answer.all_ns));
  }
  return n_failed > 0 ? text + fmt::format("; {} failed", n_failed) : text;
}

}  // namespace

bool api_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || path == "/events/api/process_offset";
}

Result<Table> api(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kApi.name;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, options.by.value_or(By::kRun));
  auto answer = collect(run, options, time, groups);
  if (!answer) return tl::unexpected(answer.error());
  table.columns = columns(groups);
  if (answer->sums.empty()) {
    table.verdict = "no CUDA API calls";
    const bool has_any = run.tables.api_process_offset.back() > 0;
    table.empty_reason = has_any ? why_none_fits(options, time.scope().words(), "CUDA API calls")
                                 : why_no_gpu_rows(run.tables, "CUDA API calls");
    return table;
  }
  std::vector<const std::pair<const std::pair<Function, std::uint32_t>, Sums>*> rows;
  for (const auto& row : answer->sums.all()) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return answer->total_ns.at(a->first.first) > answer->total_ns.at(b->first.first);
  });
  for (const auto* row : rows) {
    table.rows.push_back(row_of(run.tables, row->first.first, row->first.second, row->second, *answer, groups));
  }
  table.verdict = verdict_of(run.tables, *answer);
  table.heading = "host time in CUDA; " + time.scope().words();
  if (answer->n_without_time > 0) {
    table.notes.push_back(fmt::format("left out: {} calls without a length", answer->n_without_time));
  }
  if (answer->n_outside > 0)
    table.notes.push_back(fmt::format("left out: {} calls outside of windows", answer->n_outside));
  if (const std::size_t n = answer->sums.n_rounded(); n > 0) table.notes.push_back(rounding_note(n));
  table.notes.emplace_back("definitions: jaxprof-study api --explain");
  return table;
}

}  // namespace jaxprof::study

#include "merge/study/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "merge/study/distribution.h"
#include "merge/study/gpu_absence.h"
#include "merge/study/human.h"
#include "merge/study/kernel_name.h"
#include "merge/study/kernel_times.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr std::size_t kShortName = 60;    // characters
constexpr double kNamedShare = 0.01;      // of all kernel time: less is not worth a word about imbalance
constexpr double kNamedImbalance = 1.05;  // nor is less than this

// A kernel over all groups.
struct Kernel {
  std::int64_t total_ns = 0;
  std::int64_t n = 0;
  std::int64_t n_comm = 0;
  std::vector<RankTotal> ranks;  // by total, one entry a rank
  double median_ns = 0;          // of them
};
using Kernels = std::map<StringId, Kernel>;

// Ranks of several processes, or several GPUs, added up.
void settle_ranks(const std::vector<RankTotal>& totals, Kernel& kernel) {
  std::map<std::int32_t, std::int64_t> by_rank;
  for (const RankTotal& total : totals) by_rank[total.rank] = instant_after(by_rank[total.rank], total.total_ns);
  std::vector<std::int64_t> ascending;
  for (const auto& [rank, total_ns] : by_rank) {
    kernel.ranks.push_back({rank, total_ns});
    ascending.push_back(total_ns);
  }
  std::sort(ascending.begin(), ascending.end());
  std::stable_sort(kernel.ranks.begin(), kernel.ranks.end(),
                   [](const RankTotal& a, const RankTotal& b) { return a.total_ns < b.total_ns; });
  kernel.median_ns = percentile(ascending, 0.5);
}

Kernels over_groups(const KernelSums& sums) {
  Kernels kernels;
  for (const KernelTimes& row : sums.rows) {
    Kernel& kernel = kernels[row.name];
    kernel.total_ns = instant_after(kernel.total_ns, row.total_ns);
    kernel.n += row.n;
    kernel.n_comm += row.n_comm;
  }
  for (auto& [name, kernel] : kernels) settle_ranks(sums.ranks[static_cast<std::size_t>(name)], kernel);
  return kernels;
}

// What the longest rank takes of what the median rank takes; 0 where that is no question.
double imbalance_of(const Kernel& kernel) {
  if (kernel.ranks.size() < 2 || !(kernel.median_ns > 0)) return 0;
  return static_cast<double>(kernel.ranks.back().total_ns) / kernel.median_ns;
}

const char* class_word(std::int64_t n_comm, std::int64_t n) {
  return n_comm == 0 ? "compute" : n_comm == n ? "comm" : "mixed";
}

std::vector<Column> columns(const GroupAxis& groups) {
  std::vector<Column> all = {{"kernel", "kernel"}, {"class", "class"}};
  append(all, groups.columns());
  append(all, {{"time_share", "time %", Unit::kShare}, {"wall_share", "of wall", Unit::kShare}, {"count", "count"}});
  append(all, time_columns("", ""));
  append(all, {{"imbalance", groups.by() == By::kRank ? "of median" : "imbalance", Unit::kRatio},
               {"ranks", "ranks", Unit::kNone, true},
               {"longest_rank", "longest rank", Unit::kNone, groups.by() != By::kRun},
               {"base", "base", Unit::kNone, true},
               {"demangled", "demangled", Unit::kNone, true},
               {"name", "name", Unit::kNone, true}});
  return all;
}

Cell imbalance_cell(const KernelTimes& times, const Kernel& kernel, By by) {
  if (by == By::kGpu || by == By::kNode || imbalance_of(kernel) == 0) return Missing{};
  if (by == By::kRank) return static_cast<double>(times.total_ns) / kernel.median_ns;
  return imbalance_of(kernel);
}

Row row_of(const RunTables& run, const KernelTimes& times, const Kernel& kernel, const KernelSums& sums,
           const GroupAxis& groups, std::int64_t all_ns) {
  const std::string name(run.strings.text(times.name));
  const std::string full = demangled(name);
  Row row = {short_name(full, kShortName), std::string(class_word(times.n_comm, times.n))};
  append(row, groups.cells(times.group));
  append(row, {share_cell(times.total_ns, all_ns), share_cell(times.total_ns, sums.wall_ns[times.group]), times.n});
  append(row, times.cells);
  append(row, {imbalance_cell(times, kernel, groups.by()), static_cast<std::int64_t>(kernel.ranks.size()),
               rank_cell(kernel.ranks.back().rank), base_name(full), full, name});
  return row;
}

// By kernel, the one with most time first; a kernel's groups in their order.
void sort_rows(const Kernels& kernels, const GroupAxis& groups, std::vector<KernelTimes>& rows) {
  std::vector<std::size_t> place(groups.size());
  const std::vector<std::uint32_t> order = groups.in_order();
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::sort(rows.begin(), rows.end(), [&](const KernelTimes& a, const KernelTimes& b) {
    const std::int64_t a_ns = kernels.at(a.name).total_ns;
    const std::int64_t b_ns = kernels.at(b.name).total_ns;
    return std::tuple(-a_ns, a.name, place[a.group]) < std::tuple(-b_ns, b.name, place[b.group]);
  });
}

std::string quoted(const RunTables& run, StringId name) {
  return short_name(demangled(run.strings.text(name)), kShortName);
}

// "2031312 kernels of 29 names, 8.5 s on 16 GPUs; longest: X, 31.2 %; most uneven: Y, rank 3 takes 1.31 x the median".
std::string verdict_of(const RunTables& run, const Kernels& kernels, const KernelSums& sums, std::int64_t all_ns) {
  std::int64_t n = 0;
  const Kernels::value_type* longest = nullptr;
  const Kernels::value_type* uneven = nullptr;
  for (const auto& kernel : kernels) {
    n += kernel.second.n;
    if (longest == nullptr || kernel.second.total_ns > longest->second.total_ns) longest = &kernel;
    const bool counts = static_cast<double>(kernel.second.total_ns) >= kNamedShare * static_cast<double>(all_ns) &&
                        kernel.second.n_comm == 0 && imbalance_of(kernel.second) >= kNamedImbalance;
    if (counts && (uneven == nullptr || imbalance_of(kernel.second) > imbalance_of(uneven->second))) uneven = &kernel;
  }
  const std::int64_t gpus = std::accumulate(sums.gpus.begin(), sums.gpus.end(), std::int64_t{0});
  std::string text = fmt::format(
      "{} kernels of {} name{}, {} on {} GPU{}; longest: {}, {:.1f} % of it", n, kernels.size(),
      kernels.size() == 1 ? "" : "s", human_time(static_cast<double>(all_ns)), gpus, gpus == 1 ? "" : "s",
      quoted(run, longest->first), 100 * static_cast<double>(longest->second.total_ns) / static_cast<double>(all_ns));
  if (uneven != nullptr) {
    text += fmt::format("; most uneven: {}, rank {} takes {:.2f} x the median", quoted(run, uneven->first),
                        uneven->second.ranks.back().rank, imbalance_of(uneven->second));
  }
  return text;
}

void add_notes(const KernelSums& sums, Table& table) {
  if (sums.n_without_time > 0) {
    table.notes.push_back(fmt::format("left out: {} kernels without a start or a length", sums.n_without_time));
  }
  if (sums.n_outside > 0) table.notes.push_back(fmt::format("left out: {} kernels outside of windows", sums.n_outside));
  const auto n_rounded =
      std::count_if(sums.rows.begin(), sums.rows.end(), [](const auto& row) { return !row.is_exact; });
  if (n_rounded > 0) table.notes.push_back(rounding_note(static_cast<std::size_t>(n_rounded)));
  table.notes.emplace_back("definitions: jaxprof-study kernels --explain");
}

}  // namespace

bool kernels_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || path == "/events/kernels/process_offset";
}

Result<Table> kernels(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kKernels.name;
  const RecordedTime time(run.tables, options);
  GroupAxis groups(run.tables, options.by.value_or(By::kRun));
  auto sums = sum_kernels(run, options, time, groups);
  if (!sums) return tl::unexpected(sums.error());
  table.columns = columns(groups);
  if (sums->rows.empty()) {
    table.verdict = "no kernels";
    const bool has_any = run.tables.kernel_process_offset.back() > 0;
    table.empty_reason =
        has_any ? why_none_fits(options, time.scope().words(), "kernels") : why_no_gpu_rows(run.tables, "kernels");
    return table;
  }
  const Kernels kernels = over_groups(*sums);
  std::int64_t all_ns = 0;
  for (const auto& [name, kernel] : kernels) all_ns = instant_after(all_ns, kernel.total_ns);
  sort_rows(kernels, groups, sums->rows);
  for (const KernelTimes& times : sums->rows) {
    table.rows.push_back(row_of(run.tables, times, kernels.at(times.name), *sums, groups, all_ns));
  }
  table.verdict = verdict_of(run.tables, kernels, *sums, all_ns);
  table.heading = "GPU time of kernels; " + time.scope().words();
  add_notes(*sums, table);
  return table;
}

}  // namespace jaxprof::study

// The path from arrivals, its own time split by what the member's GPU did, summed up by row.
#include "merge/study/critical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "merge/study/arrival_words.h"
#include "merge/study/critical_path.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/human.h"
#include "merge/study/idle_cause.h"
#include "merge/study/subjects.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

enum Kind : std::size_t { kTransfer, kCompute, kCopy, kComm, kHost, kOther, kUnknown, kKinds };
using Parts = std::array<std::int64_t, kKinds>;

constexpr std::array<const char*, kKinds> kKindWords = {"transfer", "compute", "copy",   "comm",
                                                        "host",     "other",   "unknown"};

std::int64_t length_ns(const TimeSpan& span) {
  return span_ns(span.begin_ns, span.end_ns);
}

using Lane = std::pair<std::uint32_t, std::int32_t>;  // process, GPU

// Adds what a GPU does to the pieces that it falls into; told in order of time.
class PieceLane {
 public:
  PieceLane(const CriticalPath& path, const std::vector<std::size_t>& pieces, LaunchTimes* launches,
            std::vector<Parts>& parts)
      : path_(&path), pieces_(&pieces), launches_(launches), parts_(&parts) {}

  void busy(TimeSpan span, unsigned classes) {
    add(span, (classes & kBusyCompute) != 0 ? kCompute : (classes & kBusyComm) != 0 ? kComm : kCopy);
  }
  void idle(TimeSpan span, const GpuWork* /*before*/, const GpuWork* after) {
    if (!touches(span)) return;
    Kind kind = kUnknown;
    if (launches_ != nullptr && after != nullptr) {
      const IdleCause cause = idle_cause(span, after, *launches_);
      kind = cause == IdleCause::kHost ? kHost : cause == IdleCause::kUnknown ? kUnknown : kOther;
    }
    add(span, kind);
  }

 private:
  bool touches(TimeSpan span) {
    while (at_ < pieces_->size() && span_of(at_).end_ns <= span.begin_ns) ++at_;
    return at_ < pieces_->size() && span_of(at_).begin_ns < span.end_ns;
  }
  const TimeSpan& span_of(std::size_t i) const { return path_->pieces[(*pieces_)[i]].span; }
  void add(TimeSpan span, Kind kind) {
    if (!touches(span)) return;
    for (std::size_t i = at_; i < pieces_->size() && span_of(i).begin_ns < span.end_ns; ++i) {
      const std::int64_t begin_ns = std::max(span.begin_ns, span_of(i).begin_ns);
      const std::int64_t end_ns = std::min(span.end_ns, span_of(i).end_ns);
      if (begin_ns < end_ns) (*parts_)[(*pieces_)[i]][kind] += end_ns - begin_ns;
    }
  }

  const CriticalPath* path_;
  const std::vector<std::size_t>* pieces_;
  LaunchTimes* launches_;
  std::vector<Parts>* parts_;
  std::size_t at_ = 0;
};

// [pieces] by kind, whose sums are the pieces' lengths.
Result<std::vector<Parts>> split(const StudyRun& run, const Arrivals& arrivals, const CriticalPath& path) {
  std::vector<Parts> parts(path.pieces.size(), Parts{});
  std::map<Lane, std::vector<std::size_t>> own;
  for (std::size_t i = 0; i < path.pieces.size(); ++i) {
    const PathPiece& piece = path.pieces[i];
    if (piece.is_transfer) {
      parts[i][kTransfer] = length_ns(piece.span);
    } else {
      own[{arrivals.members.process[piece.member], arrivals.members.device[piece.member]}].push_back(i);
    }
  }
  if (has_gpu_work(run.tables)) {
    static const std::vector<std::size_t> kNoPieces;
    auto launches = LaunchTimes::open(run.reader);
    if (!launches) return tl::unexpected(std::move(launches.error()));
    const bool has_api = launches->has_calls();
    const auto make = [&](std::size_t process, std::int32_t device) {
      auto found = own.find({static_cast<std::uint32_t>(process), device});
      if (found == own.end()) found = own.find({static_cast<std::uint32_t>(process), -1});
      return PieceLane(path, found == own.end() ? kNoPieces : found->second, has_api ? &*launches : nullptr, parts);
    };
    const auto swept = sweep_gpus(run, {}, has_api, make, [](std::size_t, std::int32_t, PieceLane&&) {});
    if (!swept) return tl::unexpected(swept.error());
    if (!launches->status()) return tl::unexpected(launches->status().error());
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::int64_t known_ns = 0;
    for (const std::int64_t part : parts[i]) known_ns += part;
    parts[i][kUnknown] += length_ns(path.pieces[i].span) - known_ns;
  }
  return parts;
}

struct Sum {
  Parts parts{};
  std::int64_t tied_ns = 0;
  std::int64_t n_pieces = 0;
  std::int64_t total_ns() const {
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) sum += part;
    return sum;
  }
  void add(const PathPiece& piece, const Parts& more) {
    for (std::size_t k = 0; k < kKinds; ++k) parts[k] += more[k];
    if (piece.is_tied) tied_ns += length_ns(piece.span);
    ++n_pieces;
  }
};

void add_part_columns(Table& table) {
  table.columns.insert(table.columns.end(), {{"time_ns", "time", Unit::kTimeNs}, {"share", "share", Unit::kRatio}});
  for (const char* word : kKindWords) table.columns.push_back({std::string(word) + "_ns", word, Unit::kTimeNs});
  table.columns.push_back({"tied_ns", "tied", Unit::kTimeNs});
}

void add_part_cells(const Sum& sum, std::int64_t whole_ns, Row& row) {
  row.emplace_back(sum.total_ns());
  row.emplace_back(whole_ns > 0 ? static_cast<double>(sum.total_ns()) / static_cast<double>(whole_ns) : 0.0);
  for (const std::int64_t part : sum.parts) row.emplace_back(part);
  row.emplace_back(sum.tied_ns);
}

class Rows {
 public:
  Rows(const RunTables& run, const Scope& scope, const Arrivals& arrivals, const CriticalPath& path,
       const std::vector<Parts>& parts)
      : scope_(scope), path_(path), parts_(parts), ranks_(run, arrivals, By::kRank) {
    for (const PathStep& step : path.steps) whole_ns_ += length_ns(step.span);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
      by_rank_[ranks_.of(path.pieces[i].member)].add(path.pieces[i], parts[i]);
      by_step_[path.pieces[i].step].add(path.pieces[i], parts[i]);
    }
  }

  void fill(By by, Table& table) {
    if (by == By::kStep) return add_steps(table);
    if (by == By::kMember) return add_pieces(table);
    add_ranks(table);
  }

  std::string verdict() const {
    const auto most = std::max_element(by_rank_.begin(), by_rank_.end(), [](const auto& a, const auto& b) {
      return own_ns(a.second) < own_ns(b.second);
    });
    Sum all;
    for (const auto& [rank, sum] : by_rank_) {
      for (std::size_t k = 0; k < kKinds; ++k) all.parts[k] += sum.parts[k];
    }
    std::string text =
        fmt::format("{} of {} step{}: {} transfer", human_time(static_cast<double>(whole_ns_)), path_.steps.size(),
                    path_.steps.size() == 1 ? "" : "s", percent(all.parts[kTransfer]));
    text += fmt::format("; most own time on the path: {}, {}", ranks_.name(most->first), percent(own_ns(most->second)));
    std::size_t largest = kCompute;
    for (std::size_t k = kCompute; k < kKinds; ++k) {
      if (most->second.parts[k] > most->second.parts[largest]) largest = k;
    }
    return text + fmt::format(" ({} {})", kKindWords[largest], percent(most->second.parts[largest]));
  }

 private:
  static std::int64_t own_ns(const Sum& sum) { return sum.total_ns() - sum.parts[kTransfer]; }
  std::string percent(std::int64_t ns) const {
    return fmt::format("{:.1f} %",
                       whole_ns_ > 0 ? 100 * static_cast<double>(ns) / static_cast<double>(whole_ns_) : 0.0);
  }
  Cell step_cell(std::uint32_t step) const {
    return scope_.has_steps() ? Cell{scope_.axis().steps()[step].step} : Cell{Missing{}};
  }

  void add_ranks(Table& table) {
    table.columns = ranks_.columns();
    table.columns.push_back({"pieces", "pieces"});
    add_part_columns(table);
    std::vector<std::pair<std::int64_t, std::uint32_t>> order;
    for (const auto& [rank, sum] : by_rank_) order.emplace_back(-sum.total_ns(), rank);
    std::sort(order.begin(), order.end());
    for (const auto& [ns, rank] : order) {
      Row row = ranks_.cells(rank);
      row.emplace_back(by_rank_[rank].n_pieces);
      add_part_cells(by_rank_[rank], whole_ns_, row);
      table.rows.push_back(std::move(row));
    }
  }

  void add_steps(Table& table) {
    table.columns = {{"step", "step"}, {"pieces", "pieces"}};
    add_part_columns(table);
    for (const auto& [step, sum] : by_step_) {
      Row row;
      row.push_back(step_cell(step));
      row.emplace_back(sum.n_pieces);
      add_part_cells(sum, whole_ns_, row);
      table.rows.push_back(std::move(row));
    }
  }

  void add_pieces(Table& table) {
    table.columns = {{"step", "step"}};
    for (Column& column : ranks_.columns()) table.columns.push_back(std::move(column));
    table.columns.insert(table.columns.end(), {{"begin_ns", "begin", Unit::kTimeNs}, {"end_ns", "end", Unit::kTimeNs}});
    add_part_columns(table);
    for (std::size_t i = 0; i < path_.pieces.size(); ++i) {
      const PathPiece& piece = path_.pieces[i];
      Row row;
      row.push_back(step_cell(piece.step));
      for (Cell& cell : ranks_.cells(ranks_.of(piece.member))) row.push_back(std::move(cell));
      row.emplace_back(piece.span.begin_ns);
      row.emplace_back(piece.span.end_ns);
      Sum sum;
      sum.add(piece, parts_[i]);
      add_part_cells(sum, whole_ns_, row);
      table.rows.push_back(std::move(row));
    }
  }

  const Scope& scope_;
  const CriticalPath& path_;
  const std::vector<Parts>& parts_;
  Subjects ranks_;
  std::map<std::uint32_t, Sum> by_rank_;  // by subject
  std::map<std::uint32_t, Sum> by_step_;
  std::int64_t whole_ns_ = 0;
};

}  // namespace

bool critical_wants(std::string_view path) {
  return path.starts_with("/job/") || arrivals_want(path) || gpu_work_wants(path) ||
         path == "/collectives/clock_sigma_ns" || path == "/collectives/clock_bound_ns";
}

Result<Table> critical(const StudyRun& run, const StudyOptions& options) {
  const Scope scope(run.tables, options);
  const Arrivals arrivals = find_arrivals(run.tables, scope, options);
  const Judged judged = judged_instances(arrivals);
  const CriticalPath path = critical_path(run.tables, scope, arrivals, judged, resolutions_ns(run.tables, arrivals));
  Table table;
  table.study = kCritical.name;
  table.heading = arrival_heading(arrivals, scope, judged);
  if (path.pieces.empty()) {
    table.verdict = "no critical path";
    table.empty_reason = why_no_arrivals(run.tables, options, arrivals, judged);
    return table;
  }
  const auto parts = split(run, arrivals, path);
  if (!parts) return tl::unexpected(parts.error());
  Rows rows(run.tables, scope, arrivals, path, *parts);
  rows.fill(options.by.value_or(By::kRank), table);
  table.verdict = rows.verdict();
  if (!has_gpu_work(run.tables)) {
    table.notes.emplace_back("own time is not split: the run file has no kernels or copies; record them with -t cuda");
  }
  add_arrival_notes(run.tables, arrivals, judged, table);
  table.notes.emplace_back("definitions: jaxprof-study critical --explain");
  return table;
}

}  // namespace jaxprof::study

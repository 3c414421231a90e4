// Steps of the axis, with what arrivals say of each.
#include "merge/study/pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "merge/study/arrivals.h"
#include "merge/study/change_points.h"
#include "merge/study/human.h"
#include "merge/study/intervals.h"
#include "merge/study/member_lateness.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// A step of a process.
struct OfProcess {
  TimeSpan span;  // empty where it did not mark the step
  bool has_marked = false;
  std::int64_t n_collectives = 0;
  std::int64_t wait_ns = 0;
  std::int64_t n_last = 0;
  Intervals busy;  // only with --by rank
};

struct OfStep {
  std::int64_t n_collectives = 0;
  std::int64_t wait_ns = 0;
  std::int64_t n_resolved = 0;  // of which somebody is last
};

class Pace {
 public:
  Pace(const RunTables& run, const StudyOptions& options)
      : run_(run), options_(options), scope_(run, options), arrivals_(find_arrivals(run, scope_, options)) {
    const std::size_t n_steps = scope_.axis().steps().size();
    n_processes_ = run.processes.process.size();
    steps_.resize(n_steps);
    of_process_.resize(n_steps * n_processes_);
    for (std::size_t process = 0; process < n_processes_; ++process) {
      for (const ProcessStep& own : scope_.axis().of_process(process)) {
        OfProcess& of_process = at(own.index, process);
        of_process.span = own.span;
        of_process.has_marked = true;
      }
    }
    for (std::uint32_t i = 0; i < scope_.axis().steps().size(); ++i) {
      if (scope_.is_step_wanted(i)) shown_.push_back(i);
    }
    add_arrivals();
    for (const std::uint32_t step : shown_) lengths_ns_.push_back(scope_.axis().steps()[step].length_ns);
    changes_ = change_points(lengths_ns_);
    std::vector<std::int64_t> lengths_ns = lengths_ns_;
    if (!lengths_ns.empty()) median_length_ns_ = median_ns(lengths_ns);
  }

  Table table() {
    Table table;
    table.study = kPace.name;
    const bool is_by_rank = options_.by == By::kRank;
    add_columns(is_by_rank, table);
    if (shown_.empty()) {
      table.verdict = "no steps";
      table.empty_reason = scope_.has_steps() ? "no step that is asked for was recorded"
                                              : "no step is marked in the run; jaxprof-study summary says why";
      return table;
    }
    table.heading = fmt::format("{}; waits by {}", scope_.words(), arrivals_.is_gpu ? "GPU times" : "host enqueue");
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      if (is_by_rank) {
        add_ranks(i, table);
      } else {
        table.rows.push_back(step_row(i));
      }
    }
    if (table.rows.empty()) table.empty_reason = "none of the ranks that are asked for marked a step";
    table.verdict = verdict(table);
    if (arrivals_.size() == 0)
      table.notes.emplace_back("wait and last are empty: no collective was matched in these steps");
    table.notes.emplace_back("definitions: jaxprof-study pace --explain");
    return table;
  }

 private:
  void add_arrivals() {
    const Judged judged = judged_instances(arrivals_);
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      const std::int32_t step = arrivals_.instances.step[i];
      if (judged.is_counted[i] == 0 || step < 0) continue;
      OfStep& of_step = steps_[static_cast<std::size_t>(step)];
      ++of_step.n_collectives;
      const bool is_resolved = arrivals_.has(i, kArrivalResolved | kArrivalSynchronizing);
      if (is_resolved) ++of_step.n_resolved;
      bool has_last = false;
      for (std::size_t m = arrivals_.begin(i); m < arrivals_.end(i); ++m) {
        OfProcess& process = at(static_cast<std::uint32_t>(step), arrivals_.members.process[m]);
        const std::int64_t start_ns = arrivals_.members.start_ns[m];
        ++process.n_collectives;
        if (options_.by == By::kRank) process.busy.add({start_ns, arrivals_.members.end_ns[m]});
        if (!is_resolved) continue;
        const std::int64_t wait_ns = span_ns(start_ns, arrivals_.instances.last_ns[i]);
        process.wait_ns = instant_after(process.wait_ns, wait_ns);
        of_step.wait_ns = instant_after(of_step.wait_ns, wait_ns);
        if (wait_ns == 0 && !std::exchange(has_last, true)) ++process.n_last;
      }
    }
  }

  static void add_columns(bool is_by_rank, Table& table) {
    table.columns = {{"step", "step"}};
    if (is_by_rank) table.columns.push_back({"rank", "rank"});
    table.columns.insert(table.columns.end(), {{"begin_ns", "begin", Unit::kTimeNs, true},
                                               {"length_ns", "length", Unit::kTimeNs},
                                               {"slowdown", "slowdown", Unit::kRatio},
                                               {"wait_ns", "wait", Unit::kTimeNs}});
    if (is_by_rank) {
      table.columns.insert(table.columns.end(), {{"last_count", "last"}, {"busy_ns", "busy", Unit::kTimeNs}});
    } else {
      table.columns.insert(table.columns.end(), {{"shortest_ns", "shortest", Unit::kTimeNs},
                                                 {"longest_ns", "longest", Unit::kTimeNs},
                                                 {"longest_rank", "longest on"},
                                                 {"last_rank", "last"},
                                                 {"last_share", "share", Unit::kRatio},
                                                 {"change", "change", Unit::kRatio}});
    }
  }

  double slowdown(std::int64_t length_ns) const {
    return median_length_ns_ > 0 ? static_cast<double>(length_ns) / static_cast<double>(median_length_ns_) : 0;
  }
  Cell rank_cell(std::size_t process) const {
    const std::int32_t rank = run_.processes.rank[process];
    return rank >= 0 ? Cell{std::int64_t{rank}} : Cell{Missing{}};
  }
  OfProcess& at(std::uint32_t step, std::size_t process) { return of_process_[step * n_processes_ + process]; }
  // The step of each process that is asked for and marked it.
  template <typename Visit>
  void for_each_process(std::uint32_t step, const Visit& visit) {
    for (std::size_t process = 0; process < n_processes_; ++process) {
      if (at(step, process).has_marked && is_rank_wanted(run_.processes.rank[process], options_)) visit(process);
    }
  }

  Row step_row(std::size_t i) {
    const std::uint32_t step = shown_[i];
    const JobStep& job = scope_.axis().steps()[step];
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t longest_ns = -1;
    std::size_t longest_process = 0;
    for_each_process(step, [&](std::size_t process) {
      const TimeSpan& span = at(step, process).span;
      const std::int64_t length_ns = span_ns(span.begin_ns, span.end_ns);
      shortest_ns = std::min(shortest_ns, length_ns);
      if (length_ns <= longest_ns) return;
      longest_ns = length_ns;
      longest_process = process;
    });
    const bool has_any = longest_ns >= 0;
    const bool has_waits = steps_[step].n_collectives > 0;
    Row row = {job.step,
               job.span.begin_ns,
               job.length_ns,
               slowdown(job.length_ns),
               has_waits ? Cell{steps_[step].wait_ns} : Cell{Missing{}},
               has_any ? Cell{shortest_ns} : Cell{Missing{}},
               has_any ? Cell{longest_ns} : Cell{Missing{}},
               has_any ? rank_cell(longest_process) : Cell{Missing{}}};
    add_last(step, row);
    const auto change =
        std::find_if(changes_.begin(), changes_.end(), [i](const ChangePoint& c) { return c.first == i; });
    row.push_back(change == changes_.end() ? Cell{Missing{}} : Cell{change->ratio});
    return row;
  }

  void add_last(std::uint32_t step, Row& row) {
    std::size_t most = 0;
    for (std::size_t process = 1; process < n_processes_; ++process) {
      if (at(step, process).n_last > at(step, most).n_last) most = process;
    }
    if (steps_[step].n_resolved == 0) {
      row.insert(row.end(), {Missing{}, Missing{}});
      return;
    }
    row.push_back(rank_cell(most));
    row.emplace_back(static_cast<double>(at(step, most).n_last) / static_cast<double>(steps_[step].n_resolved));
  }

  void add_ranks(std::size_t i, Table& table) {
    const std::uint32_t step = shown_[i];
    for_each_process(step, [&](std::size_t process) {
      OfProcess& own = at(step, process);
      const std::int64_t length_ns = span_ns(own.span.begin_ns, own.span.end_ns);
      Row row = {scope_.axis().steps()[step].step, rank_cell(process), own.span.begin_ns, length_ns,
                 slowdown(length_ns)};
      own.busy.settle();
      if (own.n_collectives > 0) {
        row.insert(row.end(), {own.wait_ns, own.n_last, own.busy.length_ns()});
      } else {
        row.insert(row.end(), {Missing{}, Missing{}, Missing{}});
      }
      table.rows.push_back(std::move(row));
    });
  }

  std::string verdict(Table& table) const {
    const auto longest = std::max_element(lengths_ns_.begin(), lengths_ns_.end());
    std::string text = fmt::format("{} step{}, median {}", shown_.size(), shown_.size() == 1 ? "" : "s",
                                   human_time(static_cast<double>(median_length_ns_)));
    if (shown_.size() > 1) {
      const std::uint32_t step = shown_[static_cast<std::size_t>(longest - lengths_ns_.begin())];
      text += fmt::format("; longest: step {}, {:.2f} x", scope_.axis().steps()[step].step, slowdown(*longest));
    }
    for (const ChangePoint& change : changes_) {
      if (change.ratio > 1) table.finding = Finding::kWarning;
      text += fmt::format("; from step {} on {:.1f} % {}", scope_.axis().steps()[shown_[change.first]].step,
                          100 * std::abs(change.ratio - 1), change.ratio > 1 ? "longer" : "shorter");
    }
    return text;
  }

  const RunTables& run_;
  const StudyOptions& options_;
  Scope scope_;
  Arrivals arrivals_;
  std::size_t n_processes_ = 0;
  std::vector<OfStep> steps_;          // by position on the axis
  std::vector<OfProcess> of_process_;  // [steps, processes]
  std::vector<std::uint32_t> shown_;
  std::vector<std::int64_t> lengths_ns_;  // of shown_
  std::vector<ChangePoint> changes_;      // positions in shown_
  std::int64_t median_length_ns_ = 0;
};

}  // namespace

bool pace_wants(std::string_view path) {
  return path.starts_with("/job/") || arrivals_want(path);
}

Table pace(const RunTables& run, const StudyOptions& options) {
  return Pace(run, options).table();
}

}  // namespace jaxprof::study

#include "merge/study/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "merge/study/gpu_absence.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/group_axis.h"
#include "merge/study/human.h"
#include "merge/study/idle_cause.h"
#include "merge/study/recorded_time.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

constexpr double kStandsOut = 0.01;  // of GPU time, above the mean

// ns. What is neither busy nor idle for a known cause is idle for an unknown one.
struct Sums {
  std::int64_t gpus = 0;
  std::int64_t wall_ns = 0;
  std::array<std::int64_t, kBusyStates> busy_ns{};  // by kBusy… bits
  std::array<std::int64_t, kIdleCauses> idle_ns{};  // by cause; that of kUnknown is not kept

  std::int64_t compute_ns() const { return busy_sum({kBusyCompute, kBusyCompute | kBusyMemop}); }
  std::int64_t both_ns() const { return busy_sum({kBusyCompute | kBusyComm, kBusyCompute | kBusyComm | kBusyMemop}); }
  std::int64_t exposed_ns() const { return busy_sum({kBusyComm, kBusyComm | kBusyMemop}); }
  std::int64_t copies_ns() const { return busy_ns[kBusyMemop]; }
  std::int64_t idle_all_ns() const { return span_ns(busy_sum({1, 2, 3, 4, 5, 6, 7}), wall_ns); }
  std::int64_t of_cause_ns(IdleCause cause) const {
    if (cause != IdleCause::kUnknown) return idle_ns[static_cast<std::size_t>(cause)];
    return span_ns(instant_after(instant_after(idle_ns[0], idle_ns[1]), idle_ns[2]), idle_all_ns());
  }
  std::int64_t busy_sum(std::initializer_list<unsigned> states) const {
    std::int64_t sum_ns = 0;
    for (const unsigned state : states) sum_ns = instant_after(sum_ns, busy_ns[state]);
    return sum_ns;
  }
  void add(const Sums& other) {
    gpus += other.gpus;
    wall_ns = instant_after(wall_ns, other.wall_ns);
    for (std::size_t i = 0; i < busy_ns.size(); ++i) busy_ns[i] = instant_after(busy_ns[i], other.busy_ns[i]);
    for (std::size_t i = 0; i < idle_ns.size(); ++i) idle_ns[i] = instant_after(idle_ns[i], other.idle_ns[i]);
  }
};

// One GPU's time by piece of its process's time in scope.
class Tally {
 public:
  Tally(const std::vector<StepPiece>& pieces, LaunchTimes& launches)
      : pieces_(&pieces), launches_(&launches), sums_(pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      sums_[i].wall_ns = span_ns(pieces[i].span.begin_ns, pieces[i].span.end_ns);
    }
  }

  void busy(TimeSpan span, unsigned classes) {
    add(span, [classes](Sums& sums) -> std::int64_t& { return sums.busy_ns[classes]; });
  }
  void idle(TimeSpan span, const GpuWork*, const GpuWork* after) {
    if (!is_in_scope(span)) return;
    const IdleCause cause = idle_cause(span, after, *launches_);
    add(span, [cause](Sums& sums) -> std::int64_t& { return sums.idle_ns[static_cast<std::size_t>(cause)]; });
  }
  const std::vector<Sums>& sums() const { return sums_; }

 private:
  bool is_in_scope(TimeSpan span) {
    while (next_ < pieces_->size() && (*pieces_)[next_].span.end_ns <= span.begin_ns) ++next_;
    return next_ < pieces_->size() && (*pieces_)[next_].span.begin_ns < span.end_ns;
  }
  template <typename Place>
  void add(TimeSpan span, Place&& place) {
    if (!is_in_scope(span)) return;
    for (std::size_t i = next_; i < pieces_->size() && (*pieces_)[i].span.begin_ns < span.end_ns; ++i) {
      const TimeSpan& piece = (*pieces_)[i].span;
      place(sums_[i]) += std::min(span.end_ns, piece.end_ns) - std::max(span.begin_ns, piece.begin_ns);
    }
  }

  const std::vector<StepPiece>* pieces_;
  LaunchTimes* launches_;
  std::vector<Sums> sums_;  // [pieces]
  std::size_t next_ = 0;
};

// A row of the table, without its sums.
struct Label {
  Row cells;
  std::string name;
};

struct Answer {
  std::vector<Column> label_columns;
  std::vector<std::pair<Label, Sums>> rows;
  Sums all;
  bool has_calls = false;
  SweepCounts counts;
};

std::vector<std::pair<Label, Sums>> rows_of_steps(const Scope& scope, const std::map<std::int32_t, Sums>& sums) {
  std::vector<std::pair<Label, Sums>> rows;
  for (const auto& [index, step] : sums) {
    if (index < 0) {
      rows.push_back({{{Missing{}}, scope.has_steps() ? "the time between steps" : "the run"}, step});
      continue;
    }
    const std::int64_t number = scope.axis().steps()[static_cast<std::size_t>(index)].step;
    rows.push_back({{{number}, fmt::format("step {}", number)}, step});
  }
  return rows;
}

Result<Answer> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time) {
  Answer answer;
  const By by = options.by.value_or(By::kRank);
  auto launches = LaunchTimes::open(run.reader);
  if (!launches) return tl::unexpected(launches.error());
  answer.has_calls = launches->has_calls();
  GroupAxis groups(run.tables, by == By::kStep ? By::kRun : by);
  std::map<std::uint32_t, Sums> by_group;
  std::map<std::int32_t, Sums> by_step;
  std::size_t process_of_pieces = time.n_processes();
  std::vector<StepPiece> pieces;
  const auto make = [&](std::size_t process, std::int32_t) {
    if (process != process_of_pieces) pieces = time.pieces_of(process);
    process_of_pieces = process;
    return Tally(pieces, *launches);
  };
  const auto done = [&](std::size_t process, std::int32_t device, const Tally& tally) {
    Sums lane;
    std::map<std::int32_t, Sums> steps;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      lane.add(tally.sums()[i]);
      if (by == By::kStep) steps[pieces[i].step].add(tally.sums()[i]);
    }
    if (lane.wall_ns == 0) return;
    lane.gpus = 1;
    answer.all.add(lane);
    by_group[groups.group_of(process, device)].add(lane);
    for (auto& [step, sums] : steps) {
      sums.gpus = 1;
      by_step[step].add(sums);
    }
  };
  const auto counts = sweep_gpus(run, options, answer.has_calls, make, done);
  if (!counts) return tl::unexpected(counts.error());
  if (!launches->status()) return tl::unexpected(launches->status().error());
  answer.counts = *counts;
  if (by == By::kStep) {
    answer.label_columns = {{"step", "step"}};
    answer.rows = rows_of_steps(time.scope(), by_step);
    return answer;
  }
  answer.label_columns = groups.columns();
  for (const std::uint32_t group : groups.in_order()) {
    answer.rows.push_back({{groups.cells(group), groups.name(group)}, by_group[group]});
  }
  return answer;
}

std::vector<Column> columns(const Answer& answer) {
  std::vector<Column> all = answer.label_columns;
  append(all, {{"gpus", "GPUs"},
               {"wall_ns", "GPU time", Unit::kTimeNs},
               {"compute_share", "compute", Unit::kShare},
               {"both_share", "both", Unit::kShare},
               {"exposed_share", "exposed", Unit::kShare},
               {"copies_share", "copies", Unit::kShare},
               {"idle_share", "idle", Unit::kShare},
               {"idle_host_share", "host", Unit::kShare},
               {"idle_launch_share", "launch", Unit::kShare},
               {"idle_other_share", "other", Unit::kShare},
               {"hidden_share", "hidden", Unit::kShare}});
  for (const char* name :
       {"compute", "both", "exposed", "copies", "idle", "idle_host", "idle_launch", "idle_other", "idle_unknown"}) {
    std::string heading = name;
    std::replace(heading.begin(), heading.end(), '_', ' ');
    all.push_back({std::string(name) + "_ns", heading + " time", Unit::kTimeNs, true});
  }
  return all;
}

Row row_of(const Label& label, const Sums& sums, bool has_calls) {
  const auto share = [&sums](std::int64_t part_ns) { return share_cell(part_ns, sums.wall_ns); };
  const auto idle_ns = [&](IdleCause cause) { return has_calls ? Cell{sums.of_cause_ns(cause)} : Cell{Missing{}}; };
  const auto idle_share = [&](IdleCause cause) { return has_calls ? share(sums.of_cause_ns(cause)) : Cell{Missing{}}; };
  Row row = label.cells;
  append(row, {sums.gpus,
               sums.wall_ns,
               share(sums.compute_ns()),
               share(sums.both_ns()),
               share(sums.exposed_ns()),
               share(sums.copies_ns()),
               share(sums.idle_all_ns()),
               idle_share(IdleCause::kHost),
               idle_share(IdleCause::kLaunch),
               idle_share(IdleCause::kOther),
               share_cell(sums.both_ns(), instant_after(sums.both_ns(), sums.exposed_ns())),
               sums.compute_ns(),
               sums.both_ns(),
               sums.exposed_ns(),
               sums.copies_ns(),
               sums.idle_all_ns(),
               idle_ns(IdleCause::kHost),
               idle_ns(IdleCause::kLaunch),
               idle_ns(IdleCause::kOther),
               idle_ns(IdleCause::kUnknown)});
  return row;
}

double share_of(std::int64_t part_ns, const Sums& sums) {
  return sums.wall_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(sums.wall_ns) : 0;
}

// "; most idle: rank 3, 20.1 %", if one row stands out.
std::string most_words(const Answer& answer, const char* what, std::int64_t (Sums::*part)() const) {
  const auto less = [part](const auto& a, const auto& b) {
    return share_of((a.second.*part)(), a.second) < share_of((b.second.*part)(), b.second);
  };
  const auto most = std::max_element(answer.rows.begin(), answer.rows.end(), less);
  const double of_all = share_of((answer.all.*part)(), answer.all);
  if (share_of((most->second.*part)(), most->second) < of_all + kStandsOut) return "";
  return fmt::format("; most {}: {}, {:.1f} %", what, most->first.name,
                     100 * share_of((most->second.*part)(), most->second));
}

// "8 GPUs: 77.1 % compute, 0.3 % compute and communication at once, 20 % exposed communication, …".
std::string verdict_of(const Answer& answer) {
  const Sums& all = answer.all;
  std::string text =
      fmt::format("{} GPU{}: {:.1f} % compute, {:.1f} % exposed communication, {:.1f} % idle", all.gpus,
                  all.gpus == 1 ? "" : "s", 100 * (share_of(all.compute_ns(), all) + share_of(all.both_ns(), all)),
                  100 * share_of(all.exposed_ns(), all), 100 * share_of(all.idle_all_ns(), all));
  if (answer.has_calls && all.idle_all_ns() > 0) {
    text += fmt::format(" ({:.1f} % for the host)", 100 * share_of(all.of_cause_ns(IdleCause::kHost), all));
  }
  const std::int64_t comm_ns = instant_after(all.both_ns(), all.exposed_ns());
  if (comm_ns > 0) {
    text += fmt::format("; {:.1f} % of communication hidden",
                        100 * static_cast<double>(all.both_ns()) / static_cast<double>(comm_ns));
  }
  return text + most_words(answer, "exposed", &Sums::exposed_ns) + most_words(answer, "idle", &Sums::idle_all_ns);
}

void add_notes(const RunTables& run, const Answer& answer, Table& table) {
  if (answer.all.both_ns() == 0 && answer.all.exposed_ns() == 0 && run.nccl_process_offset.back() > 0) {
    table.notes.emplace_back(
        "no communication on GPUs, though there are NCCL calls: none of their kernels was recorded in scope");
  }
  if (!answer.has_calls) table.notes.emplace_back("idle is not split: the run file has no CUDA API calls");
  for (std::string& note : notes_of(answer.counts)) table.notes.push_back(std::move(note));
  table.notes.emplace_back("definitions: jaxprof-study breakdown --explain");
}

}  // namespace

bool breakdown_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || gpu_work_wants(path) ||
         path == "/events/nccl/process_offset";
}

Result<Table> breakdown(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kBreakdown.name;
  table.verdict = "no GPU time";
  if (!has_gpu_work(run.tables)) {
    table.columns = columns({});
    table.empty_reason = why_no_gpu_rows(run.tables, "kernels or copies");
    return table;
  }
  const RecordedTime time(run.tables, options);
  const auto answer = collect(run, options, time);
  if (!answer) return tl::unexpected(answer.error());
  table.columns = columns(*answer);
  for (const auto& [label, sums] : answer->rows) {
    if (sums.wall_ns > 0) table.rows.push_back(row_of(label, sums, answer->has_calls));
  }
  if (table.rows.empty()) {
    table.empty_reason = fmt::format("none of the time in which GPUs were recorded is in {}", time.scope().words());
    return table;
  }
  table.verdict = verdict_of(*answer);
  table.heading = "time of GPUs; " + time.scope().words();
  add_notes(run.tables, *answer, table);
  return table;
}

}  // namespace jaxprof::study

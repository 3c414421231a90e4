#include "merge/study/gaps.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/study/gpu_absence.h"
#include "merge/study/gpu_sweep.h"
#include "merge/study/group_axis.h"
#include "merge/study/human.h"
#include "merge/study/idle_cause.h"
#include "merge/study/ranges_around.h"
#include "merge/study/recorded_time.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Gap {
  std::size_t process = 0;
  std::int32_t device = -1;
  TimeSpan span;  // of it what is in scope
  std::string before;
  std::string after;
  std::uint64_t api = kNoRow;  // that launched what came after
  IdleCause cause = IdleCause::kUnknown;
  std::int64_t launch_ns = kNoTime;
};

// One GPU's long idle stretches.
class GapLane {
 public:
  GapLane(std::span<const TimeSpan> scope, const StringTable& strings, LaunchTimes& launches)
      : scope_(scope), strings_(&strings), launches_(&launches) {}

  void busy(TimeSpan, unsigned) {}
  void idle(TimeSpan span, const GpuWork* before, const GpuWork* after) {
    while (next_ < scope_.size() && scope_[next_].end_ns <= span.begin_ns) ++next_;
    for (std::size_t i = next_; i < scope_.size() && scope_[i].begin_ns < span.end_ns; ++i) {
      const TimeSpan common{std::max(span.begin_ns, scope_[i].begin_ns), std::min(span.end_ns, scope_[i].end_ns)};
      if (span_ns(common.begin_ns, common.end_ns) <= kLeastGapNs) continue;
      Gap& gap = gaps_.emplace_back();
      gap.span = common;
      gap.cause = idle_cause(span, after, *launches_);
      if (before != nullptr) gap.before = words_of(*before, *strings_);
      if (after == nullptr) continue;
      gap.after = words_of(*after, *strings_);
      gap.api = after->api;
      gap.launch_ns = launches_->begin_ns(after->api);
    }
  }
  std::vector<Gap>& gaps() { return gaps_; }

 private:
  std::span<const TimeSpan> scope_;
  std::size_t next_ = 0;
  const StringTable* strings_;
  LaunchTimes* launches_;
  std::vector<Gap> gaps_;
};

struct Answer {
  std::vector<Gap> gaps;            // the longest first
  std::vector<std::string> ranges;  // [gaps]
  std::int64_t wall_ns = 0;
  std::int64_t gaps_ns = 0;
  SweepCounts counts;
  bool has_calls = false;
};

Status add_ranges(const StudyRun& run, LaunchTimes& launches, Answer& answer) {
  std::vector<RangeProbe> probes;
  for (const Gap& gap : answer.gaps) {
    const bool is_known = gap.launch_ns != kNoTime;
    probes.push_back(
        {gap.process, is_known ? gap.launch_ns : gap.span.end_ns - 1, is_known ? launches.tid(gap.api) : kNoRow, {}});
  }
  if (auto found = find_ranges(run, probes); !found) return found;
  for (RangeProbe& probe : probes) answer.ranges.push_back(std::move(probe.range));
  return launches.status();
}

Result<Answer> collect(const StudyRun& run, const StudyOptions& options, const RecordedTime& time) {
  Answer answer;
  auto launches = LaunchTimes::open(run.reader);
  if (!launches) return tl::unexpected(launches.error());
  answer.has_calls = launches->has_calls();
  const auto make = [&](std::size_t process, std::int32_t) {
    return GapLane(time.of_process(process).spans(), run.tables.strings, *launches);
  };
  const auto done = [&](std::size_t process, std::int32_t device, GapLane&& lane) {
    answer.wall_ns = instant_after(answer.wall_ns, time.of_process(process).length_ns());
    for (Gap& gap : lane.gaps()) {
      gap.process = process;
      gap.device = device;
      answer.gaps_ns = instant_after(answer.gaps_ns, span_ns(gap.span.begin_ns, gap.span.end_ns));
      answer.gaps.push_back(std::move(gap));
    }
  };
  const auto counts = sweep_gpus(run, options, answer.has_calls, make, done);
  if (!counts) return tl::unexpected(counts.error());
  answer.counts = *counts;
  std::stable_sort(answer.gaps.begin(), answer.gaps.end(), [](const Gap& a, const Gap& b) {
    return span_ns(a.span.begin_ns, a.span.end_ns) > span_ns(b.span.begin_ns, b.span.end_ns);
  });
  if (auto added = add_ranges(run, *launches, answer); !added) return tl::unexpected(added.error());
  return answer;
}

std::vector<Column> columns(const GroupAxis& gpus) {
  std::vector<Column> all = gpus.columns();
  append(all, {{"step", "step"},
               {"begin_ns", "at", Unit::kTimeNs},
               {"length_ns", "length", Unit::kTimeNs},
               {"cause", "cause"},
               {"before", "before"},
               {"after", "after"},
               {"launched_ns", "launched", Unit::kTimeNs},
               {"range", "range"}});
  return all;
}

Cell text_cell(const std::string& text) {
  return text.empty() ? Cell{Missing{}} : Cell{text};
}

Row row_of(const Gap& gap, const std::string& range, const Scope& scope, GroupAxis& gpus) {
  Row row = gpus.cells(gpus.group_of(gap.process, gap.device));
  const std::int32_t step = scope.step_at(gap.process, gap.span.begin_ns);
  const bool has_step = scope.has_steps() && step >= 0;
  append(row, {has_step ? Cell{scope.axis().steps()[static_cast<std::size_t>(step)].step} : Cell{Missing{}},
               gap.span.begin_ns, span_ns(gap.span.begin_ns, gap.span.end_ns), std::string(word(gap.cause)),
               text_cell(gap.before), text_cell(gap.after),
               gap.launch_ns == kNoTime ? Cell{Missing{}} : Cell{span_ns(gap.span.begin_ns, gap.launch_ns)},
               text_cell(range)});
  return row;
}

// "41 gaps, 512 ms in all, 6.1 % of GPU time (host 80.2 %); longest: 31 ms on GPU 0 of rank 3, before gemm, for the
// host".
std::string verdict_of(const Answer& answer, GroupAxis& gpus) {
  std::int64_t host_ns = 0;
  for (const Gap& gap : answer.gaps) {
    if (gap.cause == IdleCause::kHost) host_ns = instant_after(host_ns, span_ns(gap.span.begin_ns, gap.span.end_ns));
  }
  const auto percent = [](std::int64_t part_ns, std::int64_t whole_ns) {
    return whole_ns > 0 ? 100 * static_cast<double>(part_ns) / static_cast<double>(whole_ns) : 0;
  };
  const Gap& longest = answer.gaps.front();
  std::string text =
      fmt::format("{} gap{}, {} in all, {:.1f} % of GPU time", answer.gaps.size(), answer.gaps.size() == 1 ? "" : "s",
                  human_time(static_cast<double>(answer.gaps_ns)), percent(answer.gaps_ns, answer.wall_ns));
  if (answer.has_calls) text += fmt::format(" (host {:.1f} %)", percent(host_ns, answer.wall_ns));
  text += fmt::format("; longest: {} on {}",
                      human_time(static_cast<double>(span_ns(longest.span.begin_ns, longest.span.end_ns))),
                      gpus.name(gpus.group_of(longest.process, longest.device)));
  return longest.after.empty() ? text : text + ", before " + longest.after;
}

}  // namespace

bool gaps_wants(std::string_view path) {
  return recorded_time_wants(path) || group_axis_wants(path) || gpu_work_wants(path) ||
         path == "/events/nvtx/process_offset";
}

Result<Table> gaps(const StudyRun& run, const StudyOptions& options) {
  Table table;
  table.study = kGaps.name;
  table.verdict = "no gaps";
  GroupAxis gpus(run.tables, By::kGpu);
  table.columns = columns(gpus);
  if (!has_gpu_work(run.tables)) {
    table.empty_reason = why_no_gpu_rows(run.tables, "kernels or copies");
    return table;
  }
  const RecordedTime time(run.tables, options);
  const auto answer = collect(run, options, time);
  if (!answer) return tl::unexpected(answer.error());
  for (std::string& note : notes_of(answer->counts)) table.notes.push_back(std::move(note));
  if (answer->gaps.empty()) {
    table.empty_reason =
        answer->wall_ns > 0
            ? fmt::format("no GPU was idle for more than 1 ms in {}", time.scope().words())
            : fmt::format("none of the time in which GPUs were recorded is in {}", time.scope().words());
    return table;
  }
  for (std::size_t i = 0; i < answer->gaps.size(); ++i) {
    table.rows.push_back(row_of(answer->gaps[i], answer->ranges[i], time.scope(), gpus));
  }
  table.verdict = verdict_of(*answer, gpus);
  table.heading = "idle stretches of more than 1 ms; " + time.scope().words();
  if (!answer->has_calls) table.notes.emplace_back("causes are unknown: the run file has no CUDA API calls");
  table.notes.emplace_back("definitions: jaxprof-study gaps --explain");
  return table;
}

}  // namespace jaxprof::study

// Spans of steps by process, as each process has its own; then segments and the window take away.
#include "merge/export/ranks_and_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "agent/contract/rank_selection.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/study/human.h"
#include "merge/study/member_lateness.h"

namespace jaxprof::exporting {
namespace {

using namespace jaxprof::study;
using runfile::RunTables;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Intervals one(TimeSpan span) {
  Intervals spans;
  spans.add(span);
  spans.settle();
  return spans;
}

Intervals steps_of(const StepAxis& axis, const StepChoice& steps, std::size_t process) {
  Intervals spans;
  const auto own = axis.of_process(process);
  for (const ProcessStep& step : own) {
    if (steps.is_wanted[step.index] != 0) spans.add(step.span);
  }
  for (std::size_t i = 0; own.empty() && i < axis.steps().size(); ++i) {
    if (steps.is_wanted[i] != 0) spans.add(axis.steps()[i].span);
  }
  spans.settle();
  return spans;
}

Intervals segment_of(const RunTables& run, std::size_t process, std::uint32_t segment) {
  Intervals spans;
  for (std::size_t row = 0; row < run.segments.process.size(); ++row) {
    if (run.segments.process[row] != process || run.segments.segment[row] != segment) continue;
    const std::int64_t close_ns = run.segments.close_ns[row];
    spans.add({run.segments.open_ns[row], close_ns == runfile::kNoTime ? kEnd : close_ns});
  }
  spans.settle();
  return spans;
}

// "steps 3-5", "steps 3, 7".
std::string step_words(const StepAxis& axis, const std::vector<std::uint8_t>& is_wanted) {
  std::string words;
  std::size_t n = 0;
  for (std::size_t i = 0; i < is_wanted.size(); ++i) {
    if (is_wanted[i] == 0) continue;
    std::size_t last = i;
    while (last + 1 < is_wanted.size() && is_wanted[last + 1] != 0) ++last;
    n += last - i + 1;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", axis.steps()[i].step);
    if (last > i) words += fmt::format("-{}", axis.steps()[last].step);
    i = last;
  }
  return (n == 1 ? "step " : "steps ") + words;
}

std::string time_words(const StepChoice& steps, const StudyOptions& asked) {
  std::string words = steps.words;
  if (asked.segment) words += fmt::format("{}segment {}", words.empty() ? "" : ", ", *asked.segment);
  if (asked.window) {
    const auto& [begin_ns, end_ns] = *asked.window;
    words += fmt::format("{}from {} to {}", words.empty() ? "" : ", ", human_time(static_cast<double>(begin_ns)),
                         end_ns == kEnd ? "the end" : human_time(static_cast<double>(end_ns)));
  }
  return words.empty() ? "the whole run" : words;
}

// How long members waited for the last one, by step.
std::vector<double> waits_ns(const Arrivals& arrivals, std::size_t n_steps) {
  std::vector<double> waits(n_steps, 0);
  const Judged judged = judged_instances(arrivals);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const std::int32_t step = arrivals.instances.step[i];
    if (judged.is_counted[i] == 0 || step < 0 || static_cast<std::size_t>(step) >= n_steps) continue;
    if (!arrivals.has(i, kArrivalResolved | kArrivalSynchronizing)) continue;
    for (const std::int64_t start_ns : arrivals.starts_ns(i)) {
      waits[static_cast<std::size_t>(step)] += static_cast<double>(span_ns(start_ns, arrivals.instances.last_ns[i]));
    }
  }
  return waits;
}

}  // namespace

StepChoice asked_steps(const StepAxis& axis, const StudyOptions& asked) {
  StepChoice chosen;
  if (asked.steps.empty()) return chosen;
  for (const JobStep& step : axis.steps()) {
    const bool is_wanted =
        step.step >= 0 && number_list_contains(asked.steps.c_str(), static_cast<std::uint64_t>(step.step));
    chosen.is_wanted.push_back(is_wanted ? 1 : 0);
  }
  chosen.words = step_words(axis, chosen.is_wanted);
  return chosen;
}

StepChoice worst_steps(const Scope& scope, const Arrivals& arrivals) {
  StepChoice chosen;
  const auto& steps = scope.axis().steps();
  if (steps.empty()) return chosen;
  const std::vector<double> waits = waits_ns(arrivals, steps.size());
  const bool has_waits = std::any_of(waits.begin(), waits.end(), [](double wait) { return wait > 0; });
  const auto weight = [&](std::size_t i) {
    if (!scope.is_step_wanted(static_cast<std::uint32_t>(i))) return -1.0;
    return has_waits ? waits[i] : static_cast<double>(steps[i].length_ns);
  };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (weight(i) > weight(worst)) worst = i;
  }
  chosen.is_wanted.assign(steps.size(), 0);
  for (std::size_t i = worst == 0 ? 0 : worst - 1; i <= std::min(worst + 1, steps.size() - 1); ++i) {
    chosen.is_wanted[i] = 1;
  }
  chosen.words = step_words(scope.axis(), chosen.is_wanted);
  chosen.why = has_waits ? fmt::format("most wait is in step {}: {}", steps[worst].step, human_time(waits[worst]))
                         : fmt::format("step {} is the longest: {}; nobody waited", steps[worst].step,
                                       human_time(static_cast<double>(steps[worst].length_ns)));
  return chosen;
}

RanksAndTime choose_ranks_and_time(const RunTables& run, const StepAxis& axis, const StepChoice& steps,
                                   const StudyOptions& asked) {
  RanksAndTime chosen;
  std::vector<std::int32_t> ranks;
  TimeSpan around{kEnd, 0};
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    const bool is_wanted = is_rank_wanted(run.processes.rank[process], asked);
    Intervals spans = steps.is_wanted.empty() ? one({0, kEnd}) : steps_of(axis, steps, process);
    if (asked.segment) spans = intersection(spans, segment_of(run, process, *asked.segment));
    if (asked.window) spans = intersection(spans, one(*asked.window));
    if (is_wanted) ranks.push_back(run.processes.rank[process]);
    if (is_wanted && !spans.empty()) {
      around.begin_ns = std::min(around.begin_ns, spans.spans().front().begin_ns);
      around.end_ns = std::max(around.end_ns, spans.spans().back().end_ns);
    }
    chosen.is_wanted.push_back(is_wanted ? 1 : 0);
    chosen.of_process.push_back(std::move(spans));
  }
  chosen.around = around.begin_ns < around.end_ns ? around : TimeSpan{0, 0};
  chosen.words = time_words(steps, asked);
  if (!ranks.empty()) chosen.words += " of " + runfile::rank_ranges(std::move(ranks));
  return chosen;
}

}  // namespace jaxprof::exporting

// Steps first, then segments and the window, each of which only takes away.
#include "merge/study/scope.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/contract/rank_selection.h"
#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

bool is_listed(std::int64_t step, const std::string& list) {
  return step >= 0 && number_list_contains(list.c_str(), static_cast<std::uint64_t>(step));
}

// How many of the first steps are warm-up.
std::size_t warm_up_length(const std::vector<JobStep>& steps) {
  std::vector<std::int64_t> lengths_ns;
  for (const JobStep& step : steps) lengths_ns.push_back(step.length_ns);
  if (lengths_ns.size() < 3) return 0;
  const auto middle = lengths_ns.begin() + static_cast<std::ptrdiff_t>(lengths_ns.size() / 2);
  std::nth_element(lengths_ns.begin(), middle, lengths_ns.end());
  const double limit_ns = kWarmUpMedians * static_cast<double>(*middle);
  std::size_t n = 0;
  while (n < steps.size() / 2 && static_cast<double>(steps[n].length_ns) > limit_ns) ++n;
  return n;
}

std::string range_words(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("step {}", first) : fmt::format("steps {}-{}", first, last);
}

// "steps 2-5, 8-9".
std::string step_words(const std::vector<JobStep>& steps, const std::vector<std::uint8_t>& is_wanted) {
  std::string text;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (is_wanted[i] == 0) continue;
    std::size_t last = i;
    while (last + 1 < steps.size() && is_wanted[last + 1] != 0) ++last;
    text += text.empty() ? range_words(steps[i].step, steps[last].step)
                         : fmt::format(", {}{}", steps[i].step, last == i ? "" : fmt::format("-{}", steps[last].step));
    i = last;
  }
  return text.empty() ? "no step" : text;
}

Intervals segments_of(const RunTables& run, std::size_t process, std::uint32_t segment) {
  Intervals spans;
  const SegmentTable& t = run.segments;
  for (std::size_t row = 0; row < t.process.size(); ++row) {
    if (t.process[row] != process || t.segment[row] != segment) continue;
    const std::int64_t end_ns = t.close_ns[row] == kNoTime ? run.processes.end_ns[process] : t.close_ns[row];
    spans.add({t.open_ns[row], end_ns});
  }
  return spans;
}

}  // namespace

Scope::Scope(const RunTables& run, const StudyOptions& options) : axis_(run) {
  choose_steps(options);
  for (std::size_t process = 0; process < run.processes.process.size(); ++process) {
    spans_.push_back(spans_of(run, options, process));
  }
  if (options.segment) words_ += fmt::format("; segment {}", *options.segment);
  if (options.window) {
    words_ += fmt::format("; from {} to {} of the run", human_time(static_cast<double>(options.window->begin_ns)),
                          human_time(static_cast<double>(options.window->end_ns)));
  }
}

void Scope::choose_steps(const StudyOptions& options) {
  const std::vector<JobStep>& steps = axis_.steps();
  is_wanted_.assign(steps.size(), 1);
  if (steps.empty()) {
    words_ = "the whole run, in which no step is marked";
    return;
  }
  std::size_t n_warm_up = 0;
  if (!options.steps.empty()) {
    for (std::size_t i = 0; i < steps.size(); ++i) is_wanted_[i] = is_listed(steps[i].step, options.steps) ? 1 : 0;
  } else if (!options.has_all_steps) {
    n_warm_up = warm_up_length(steps);
    std::fill_n(is_wanted_.begin(), n_warm_up, std::uint8_t{0});
    if (steps.size() > 1 && !steps.back().is_ended) is_wanted_.back() = 0;
  }
  n_steps_ = static_cast<std::uint32_t>(std::count(is_wanted_.begin(), is_wanted_.end(), 1));
  words_ = step_words(steps, is_wanted_);
  if (n_warm_up > 0) {
    words_ += "; " + range_words(steps.front().step, steps[n_warm_up - 1].step) + " left out as warm-up (--all-steps)";
  }
  if (options.steps.empty() && is_wanted_.back() == 0) {
    words_ += fmt::format("; step {}, which did not end, left out (--all-steps)", steps.back().step);
  }
}

Intervals Scope::spans_of(const RunTables& run, const StudyOptions& options, std::size_t process) const {
  Intervals spans;
  if (!has_steps()) {
    const std::int64_t end_ns = run.processes.end_ns[process];
    spans.add({std::max<std::int64_t>(run.processes.start_ns[process], 0),
               end_ns == kNoTime ? std::numeric_limits<std::int64_t>::max() : instant_after(end_ns, 1)});
  } else if (const auto own = axis_.of_process(process); !own.empty()) {
    for (const ProcessStep& step : own) {
      if (is_step_wanted(step.index)) spans.add(step.span);
    }
  } else {
    for (std::uint32_t i = 0; i < axis_.steps().size(); ++i) {
      if (is_step_wanted(i)) spans.add(axis_.steps()[i].span);
    }
  }
  spans.settle();
  if (options.segment) {
    Intervals segment = segments_of(run, process, *options.segment);
    segment.settle();
    spans = intersection(spans, segment);
  }
  if (options.window) {
    Intervals window;
    window.add(*options.window);
    window.settle();
    spans = intersection(spans, window);
  }
  return spans;
}

std::int32_t Scope::step_at(std::size_t process, std::int64_t t_ns) const {
  if (!contains(process, t_ns)) return -1;
  if (!has_steps()) return 0;
  const auto index = axis_.index_at(process, t_ns);
  return index && is_step_wanted(*index) ? static_cast<std::int32_t>(*index) : -1;
}

bool scope_wants(std::string_view path) {
  return step_axis_wants(path);
}

Status check_scope(const RunTables& run, const StudyOptions& options) {
  const auto& steps = run.steps.step;
  if (!options.steps.empty()) {
    if (steps.empty()) return fail(ErrorCode::kUsage, "--steps: no step is marked in the run");
    if (std::none_of(steps.begin(), steps.end(), [&](std::int64_t step) { return is_listed(step, options.steps); })) {
      return fail(ErrorCode::kUsage, fmt::format("--steps {}: the run file has none of these; it has steps {} to {}",
                                                 options.steps, *std::min_element(steps.begin(), steps.end()),
                                                 *std::max_element(steps.begin(), steps.end())));
    }
  }
  const auto& segments = run.segments.segment;
  if (options.segment && std::find(segments.begin(), segments.end(), *options.segment) == segments.end()) {
    return fail(ErrorCode::kUsage,
                segments.empty() ? fmt::format("--segment {}: the run file has no segments", *options.segment)
                                 : fmt::format("--segment {}: the run file has segments 0 to {}", *options.segment,
                                               *std::max_element(segments.begin(), segments.end())));
  }
  const auto& ends_ns = run.processes.end_ns;
  const std::int64_t last_ns = ends_ns.empty() ? 0 : *std::max_element(ends_ns.begin(), ends_ns.end());
  if (options.window && options.window->begin_ns > last_ns) {
    return fail(ErrorCode::kUsage, "--window: begins after the run, which ends at " +
                                       human_time(static_cast<double>(last_ns)) + " of its time axis");
  }
  return {};
}

}  // namespace jaxprof::study

// Rows of /steps by process and number; then each lasts to the next one.
#include "merge/study/step_axis.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

const ProcessStep* step_at(std::span<const ProcessStep> steps, std::int64_t t_ns) {
  const auto after = std::upper_bound(steps.begin(), steps.end(), t_ns,
                                      [](std::int64_t t, const ProcessStep& step) { return t < step.span.begin_ns; });
  if (after == steps.begin()) return nullptr;
  const ProcessStep& found = *std::prev(after);
  return found.span.contains(t_ns) ? &found : nullptr;
}

// The closing of the window in which the process was at that instant; the farthest instant if nothing tells. Segments
// are sorted by process.
std::int64_t closing_after(const RunTables& run, std::uint32_t process, std::int64_t t_ns) {
  const SegmentTable& segments = run.segments;
  const auto [first, last] = std::equal_range(segments.process.begin(), segments.process.end(), process);
  for (auto at = first; at != last; ++at) {
    const auto row = static_cast<std::size_t>(at - segments.process.begin());
    const std::int64_t close_ns = segments.close_ns[row];
    if (segments.open_ns[row] <= t_ns && close_ns > t_ns) return close_ns;
  }
  return std::numeric_limits<std::int64_t>::max();
}

}  // namespace

StepAxis::StepAxis(const RunTables& run) {
  gather(run);
  lay_end_to_begin(run);
  sum_up();
}

// One ProcessStep a process and number: a process that drives several GPUs has a row for each of its threads.
void StepAxis::gather(const RunTables& run) {
  struct Marked {
    TimeSpan span;
    bool has_end = true;
  };
  std::map<std::pair<std::uint32_t, std::int64_t>, Marked> marked;
  std::vector<std::int64_t> numbers;
  const StepTable& t = run.steps;
  for (std::size_t row = 0; row < t.step.size(); ++row) {
    if (t.process[row] >= run.processes.process.size() || t.step[row] == kNoPayload) continue;
    const bool has_end = t.dur_ns[row] >= 0;
    const TimeSpan span{t.start_ns[row], has_end ? instant_after(t.start_ns[row], t.dur_ns[row]) : t.start_ns[row]};
    const auto [at, is_new] = marked.try_emplace({t.process[row], t.step[row]}, Marked{span, has_end});
    Marked& known = at->second;
    known.span.begin_ns = std::min(known.span.begin_ns, span.begin_ns);
    known.span.end_ns = std::max(known.span.end_ns, span.end_ns);
    known.has_end = known.has_end && has_end;
    numbers.push_back(t.step[row]);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  steps_.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) steps_[i].step = numbers[i];
  offset_.assign(run.processes.process.size() + 1, 0);
  for (const auto& [key, step] : marked) {
    const auto number = std::lower_bound(numbers.begin(), numbers.end(), key.second) - numbers.begin();
    process_steps_.push_back({step.span, static_cast<std::uint32_t>(number)});
    has_end_.push_back(step.has_end ? 1 : 0);
    ++offset_[key.first + 1];
  }
  for (std::size_t i = 1; i < offset_.size(); ++i) offset_[i] += offset_[i - 1];
}

void StepAxis::lay_end_to_begin(const RunTables& run) {
  for (std::size_t process = 0; process + 1 < offset_.size(); ++process) {
    const auto first = process_steps_.begin() + static_cast<std::ptrdiff_t>(offset_[process]);
    const auto last = process_steps_.begin() + static_cast<std::ptrdiff_t>(offset_[process + 1]);
    for (auto step = first; step != last; ++step) {
      steps_[step->index].is_ended &= has_end_[static_cast<std::size_t>(step - process_steps_.begin())] != 0;
    }
    std::sort(first, last, [](const ProcessStep& a, const ProcessStep& b) {
      return std::tuple(a.span.begin_ns, a.index) < std::tuple(b.span.begin_ns, b.index);
    });
    for (auto step = first; step != last; ++step) {
      if (std::next(step) == last) break;
      const std::int64_t next_ns = std::next(step)->span.begin_ns;
      const std::int64_t closing_ns = closing_after(run, static_cast<std::uint32_t>(process), step->span.begin_ns);
      step->span.end_ns = std::min(next_ns, std::max(closing_ns, step->span.begin_ns));
    }
  }
}

void StepAxis::sum_up() {
  std::vector<std::vector<std::int64_t>> lengths_ns(steps_.size());
  for (const ProcessStep& step : process_steps_) {
    JobStep& job = steps_[step.index];
    job.span.begin_ns = job.processes == 0 ? step.span.begin_ns : std::min(job.span.begin_ns, step.span.begin_ns);
    job.span.end_ns = job.processes == 0 ? step.span.end_ns : std::max(job.span.end_ns, step.span.end_ns);
    ++job.processes;
    lengths_ns[step.index].push_back(span_ns(step.span.begin_ns, step.span.end_ns));
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto& all_ns = lengths_ns[i];
    const auto middle = all_ns.begin() + static_cast<std::ptrdiff_t>(all_ns.size() / 2);
    std::nth_element(all_ns.begin(), middle, all_ns.end());
    steps_[i].length_ns = *middle;
    job_steps_.push_back({steps_[i].span, static_cast<std::uint32_t>(i)});
  }
  std::sort(job_steps_.begin(), job_steps_.end(),
            [](const ProcessStep& a, const ProcessStep& b) { return a.span.begin_ns < b.span.begin_ns; });
  for (std::size_t i = 0; i + 1 < job_steps_.size(); ++i) {
    job_steps_[i].span.end_ns = std::min(job_steps_[i].span.end_ns, job_steps_[i + 1].span.begin_ns);
  }
}

std::span<const ProcessStep> StepAxis::of_process(std::size_t process) const {
  if (process + 1 >= offset_.size()) return {};
  return std::span(process_steps_).subspan(offset_[process], offset_[process + 1] - offset_[process]);
}

std::optional<std::uint32_t> StepAxis::index_at(std::size_t process, std::int64_t t_ns) const {
  const auto own = of_process(process);
  const ProcessStep* step = step_at(own.empty() ? std::span<const ProcessStep>(job_steps_) : own, t_ns);
  return step == nullptr ? std::nullopt : std::optional(step->index);
}

bool step_axis_wants(std::string_view path) {
  return path.starts_with("/steps/") || path.starts_with("/segments/") || path == "/job/processes";
}

}  // namespace jaxprof::study

#include "merge/study/summary_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// "1 node", "3 nodes"; an ending of its own is given as "process|es".
std::string plural(std::uint64_t n, std::string_view noun) {
  const std::size_t bar = noun.find('|');
  const std::string_view ending = bar == std::string_view::npos ? "s" : noun.substr(bar + 1);
  return fmt::format("{} {}{}", n, noun.substr(0, bar), n == 1 ? "" : ending);
}

// The tasks, or where those are unknown the processes, that have a finding of one of `codes`.
std::size_t n_tasks_with(const RunTables& run, std::initializer_list<std::string_view> codes) {
  const DiagnosticTable& d = run.diagnostics;
  std::set<std::pair<std::uint32_t, std::int64_t>> tasks;  // task, or process and rank
  for (std::size_t i = 0; i < d.code.size(); ++i) {
    if (std::find(codes.begin(), codes.end(), run.strings.text(d.code[i])) == codes.end()) continue;
    const std::uint32_t process = d.process[i];
    const bool has_task = process < run.processes.task.size() && run.processes.task[process] != kNoIndex;
    if (has_task) {
      tasks.emplace(run.processes.task[process], -2);
    } else {
      tasks.emplace(process, d.rank[i]);
    }
  }
  return tasks.size();
}

// What makes the run less than it should be, first of all: "partial: 16 of 16 tasks cut; ".
std::string faults_of(const RunTables& run) {
  const DiagnosticTable& d = run.diagnostics;
  const std::size_t n_tasks = std::max<std::size_t>(run.tasks.task.size(), 1);
  std::string text;
  if (std::find(d.severity.begin(), d.severity.end(), Severity::kError) != d.severity.end()) {
    std::string what;
    const auto add = [&](std::size_t n, const char* word) {
      if (n > 0) what += fmt::format("{}{} of {} {}", what.empty() ? "" : ", ", n, plural(n_tasks, "task"), word);
    };
    add(n_tasks_with(run, {"spool.cut", "spool.short"}), "cut");
    add(n_tasks_with(run, {"rank.missing", "rank.failed"}), "missing");
    add(n_tasks_with(run, {"recording.failed"}), "not recorded to the end");
    text += "partial: " + (what.empty() ? "errors are listed under diagnostics" : what) + "; ";
  }
  std::set<std::int32_t> stopped;
  for (std::size_t i = 0; i < d.code.size(); ++i) {
    if (run.strings.text(d.code[i]) == "recording.stopped") stopped.insert(d.rank[i]);
  }
  if (!stopped.empty()) text += "recording stopped on " + plural(stopped.size(), "rank") + "; ";
  const auto& modes = run.processes.gpu_mode;
  const auto n_without_gpus = std::count(modes.begin(), modes.end(), GpuMode::kUnavailable);
  if (n_without_gpus > 0) {
    text += fmt::format("GPUs of {} not recorded; ", plural(static_cast<std::uint64_t>(n_without_gpus), "process|es"));
  }
  const auto& events = run.processes.n_events;
  const auto kept = static_cast<double>(std::accumulate(events.begin(), events.end(), std::uint64_t{0}));
  const auto dropped = static_cast<double>(run.attributes.n_dropped);
  constexpr double kLargeLoss = 0.01;
  if (dropped > kLargeLoss * (kept + dropped)) {
    text += fmt::format("{:.1f} % of the events dropped; ", 100 * dropped / (kept + dropped));
  }
  return text;
}

}  // namespace

std::string verdict_of(const RunTables& run, const EventCounts& counts) {
  const auto is_profiled = [](TaskState state) { return state == TaskState::kProfiled; };
  const auto n_profiled = std::count_if(run.tasks.state.begin(), run.tasks.state.end(), is_profiled);
  const std::int64_t n_partial = counts.n_instances_with(kInstancePartial);
  const std::string nothing = run.processes.process.empty() ? "no task recorded anything; " : "";
  std::string text =
      faults_of(run) + nothing +
      fmt::format("{} of {} profiled on {}; {}, {} matched to {}", n_profiled, plural(run.tasks.state.size(), "task"),
                  plural(run.attributes.n_nodes, "node"),
                  plural(static_cast<std::uint64_t>(counts.calls.n_calls), "NCCL call"), counts.calls.n_matched,
                  plural(static_cast<std::uint64_t>(counts.n_instances), "instance"));
  if (n_partial > 0) text += fmt::format(" ({} partial)", n_partial);
  return text + "; " + plural(run.attributes.n_dropped, "event") + " dropped";
}

}  // namespace jaxprof::study

#include "merge/assembly/window_findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using spool::IdentityKey;
using spool::WindowCause;

// Windows of all ranks open within 5 ms if nothing is wrong.
constexpr std::int64_t kLateNs = 5'000'000;

std::string range_of(const rundir::SpoolTrace& trace) {
  const std::string range = trace.identity().text(IdentityKey::kCaptureRange);
  return range == "none" ? "" : range;
}

std::string seconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%g s", static_cast<double>(ns) / 1e9);
  return text;
}

std::string milliseconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(ns) / 1e6);
  return text;
}

bool is_told(const rundir::SpoolTrace& trace) {
  return !trace.identity().text(IdentityKey::kCaptureRange).empty();
}

bool has_opened(const std::vector<Segment>& segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.open_ns >= 0; });
}

void diagnose_process(const SourceProcess& process, std::uint32_t index, const std::vector<Segment>& segments,
                      Diagnostics* diagnostics) {
  if (!is_told(process.trace)) return;
  const Place place{process.rank, index, process.node};
  const std::string told_by = who(process.rank, process.trace.identity().text(IdentityKey::kHost)) + ": ";
  const std::string window = window_words(process.trace);
  if (!has_opened(segments)) {
    diagnostics->add(Severity::kWarning, "window.never-opened", place, 1,
                     told_by + "its window" + (window.empty() ? "" : " (" + window + ")") +
                         " never opened, so that nothing is recorded but who it was");
    return;
  }
  // One that was to be closed by the program, or by --duration.
  const bool has_end =
      !range_of(process.trace).empty() || process.trace.identity().number(IdentityKey::kWindowDurationNs) > 0;
  const Segment& last = segments.back();
  const auto cause = static_cast<WindowCause>(last.close_cause);
  const bool was_open = last.close_ns < 0 || cause == WindowCause::kExit || cause == WindowCause::kStopped;
  if (has_end && was_open) {
    diagnostics->add(Severity::kInfo, "window.open-at-exit", place, 1,
                     told_by + "its window (" + window + ") was open when its recording ended" +
                         (last.close_ns < 0 ? ", and was never closed: it was killed" : "") +
                         "; what was recorded until then is kept");
  }
}

using Ranks = std::vector<std::int32_t>;

// "7 on rank 0 and 8 on ranks 1-3", the fewest ranks last.
std::string where_words(const std::map<std::int64_t, Ranks>& by_value) {
  std::vector<std::pair<std::int64_t, Ranks>> order(by_value.begin(), by_value.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(order[i].first) + " on " + runfile::rank_ranges(order[i].second);
  }
  return order.size() > kShown ? text + ", …" : text;
}

// Processes whose window was asked for in the same words; only these can be compared.
struct Alike {
  std::vector<std::size_t> processes;
};

void diagnose_content(const RunSources& sources, const std::vector<std::vector<Segment>>& segments, const Alike& alike,
                      const std::string& words, Diagnostics* diagnostics) {
  std::map<std::uint32_t, std::map<std::int64_t, Ranks>> steps;  // by segment and step
  std::map<std::int64_t, Ranks> counts;                          // by how often it opened
  for (const std::size_t process : alike.processes) {
    const std::int32_t rank = sources.processes[process].rank;
    for (const Segment& segment : segments[process]) {
      if (segment.open_ns < 0) continue;
      if (segment.first_step) steps[segment.number][*segment.first_step].push_back(rank);
    }
    counts[static_cast<std::int64_t>(segments[process].size())].push_back(rank);
  }
  for (const auto& [number, by_step] : steps) {
    if (by_step.size() < 2) continue;
    diagnostics->add(Severity::kWarning, "window.mixed-steps", {}, 1,
                     "the windows (" + words + ") did not open at the same step: segment " + std::to_string(number) +
                         " at step " + where_words(by_step) + ": the ranks' records are of different work");
  }
  if (counts.size() > 1) {
    diagnostics->add(Severity::kWarning, "window.mixed-counts", {}, 1,
                     "the windows (" + words + ") did not open equally often: " + where_words(counts) + " times");
  }
}

void diagnose_times(const RunSources& sources, const std::vector<std::vector<Segment>>& segments, const Alike& alike,
                    const std::string& words, double clock_bound_ns, Diagnostics* diagnostics) {
  // The clocks of several nodes tell no more than their bound; without one they tell nothing.
  std::set<std::uint32_t> nodes;
  for (const std::size_t process : alike.processes) nodes.insert(sources.processes[process].node);
  const double bound_ns = nodes.size() < 2 ? 0 : clock_bound_ns;
  if (std::isnan(bound_ns)) return;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = -1;
  std::size_t last_process = 0;
  for (const std::size_t process : alike.processes) {
    if (!has_opened(segments[process])) continue;
    const std::int64_t open_ns = segments[process].front().open_ns;
    first_ns = std::min(first_ns, open_ns);
    if (open_ns > last_ns) last_process = process;
    last_ns = std::max(last_ns, open_ns);
  }
  if (last_ns < 0 || static_cast<double>(last_ns - first_ns) <= static_cast<double>(kLateNs) + bound_ns) return;
  const SourceProcess& late = sources.processes[last_process];
  diagnostics->add(Severity::kWarning, "window.late", {late.rank, static_cast<std::uint32_t>(last_process), late.node},
                   1,
                   "the windows (" + words + ") opened within " + milliseconds(last_ns - first_ns) + ", " +
                       who(late.rank, late.trace.identity().text(IdentityKey::kHost)) + " last");
}

}  // namespace

std::string window_words(const rundir::SpoolTrace& trace) {
  const spool::SpoolIdentity& id = trace.identity();
  std::vector<std::string> words;
  if (const std::string range = range_of(trace); !range.empty()) {
    words.push_back("--capture-range " + range + " --capture-range-end " + id.text(IdentityKey::kCaptureRangeEnd));
  }
  if (id.number(IdentityKey::kWindowDelayNs) > 0) {
    words.push_back("--delay " + seconds(id.number(IdentityKey::kWindowDelayNs)));
  }
  if (id.number(IdentityKey::kWindowDurationNs) > 0) {
    words.push_back("--duration " + seconds(id.number(IdentityKey::kWindowDurationNs)));
  }
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string windows_of(const RunSources& sources) {
  std::set<std::string> all;
  for (const SourceProcess& process : sources.processes) all.insert(window_words(process.trace));
  std::string text;
  for (const std::string& words : all) {
    if (!words.empty()) text += (text.empty() ? "" : " | ") + words;
  }
  return text;
}

void diagnose_windows(const RunSources& sources, const std::vector<std::vector<Segment>>& segments,
                      double clock_bound_ns, Diagnostics* diagnostics) {
  std::map<std::string, Alike> by_words;
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    const SourceProcess& process = sources.processes[i];
    diagnose_process(process, static_cast<std::uint32_t>(i), segments[i], diagnostics);
    const std::string words = window_words(process.trace);
    if (!words.empty() && process.rank >= 0 && has_opened(segments[i])) by_words[words].processes.push_back(i);
  }
  for (const auto& [words, alike] : by_words) {
    const rundir::SpoolTrace& trace = sources.processes[alike.processes.front()].trace;
    if (!range_of(trace).empty()) {
      diagnose_content(sources, segments, alike, words, diagnostics);
    } else if (trace.identity().number(IdentityKey::kWindowDelayNs) > 0) {
      diagnose_times(sources, segments, alike, words, clock_bound_ns, diagnostics);
    }
  }
}

}  // namespace jaxprof::assembly

#include "merge/assembly/unobserved_nodes.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jaxprof::assembly {
namespace {

using runfile::Severity;

// A task's record is written a while before and after what it tells, and an observer may need a moment to begin.
constexpr std::int64_t kToleranceNs = 3'000'000'000;

std::string seconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(ns) / 1e9);
  return text;
}

bool names_kind(std::string_view kinds, std::string_view kind) {
  for (std::size_t at = 0; at <= kinds.size();) {
    const std::size_t end = std::min(kinds.find(',', at), kinds.size());
    if (kinds.substr(at, end - at) == kind) return true;
    at = end + 1;
  }
  return false;
}

// On the run's axis, ns.
struct Span {
  std::int64_t begin_ns = INT64_MAX;
  std::int64_t end_ns = INT64_MIN;
  bool is_empty() const { return begin_ns > end_ns; }
  void include(std::int64_t ns) {
    begin_ns = std::min(begin_ns, ns);
    end_ns = std::max(end_ns, ns);
  }
};

// Of the traced tasks that asked for an observer, by node. A task without an end record counts at its beginning.
std::vector<Span> spans_of_tasks(const RunSources& sources) {
  std::vector<Span> spans(sources.nodes.size());
  for (const rundir::FoundTask& task : sources.tasks) {
    const TaskStart& start = task.start;
    if (!start.is_profiled || !(names_kind(start.trace, "nic") || names_kind(start.trace, "gpu"))) continue;
    const std::uint32_t node = sources.node_of(start.boot_id, start.host);
    if (node >= spans.size()) continue;
    const auto include = [&](std::int64_t wall_ns) {
      if (const std::int64_t time_ns = sources.axis_of_wall(node, wall_ns); time_ns >= 0) spans[node].include(time_ns);
    };
    include(start.realtime_ns);
    if (task.end && !task.end->is_collected) include(std::max(task.end->realtime_ns, start.realtime_ns));
  }
  return spans;
}

std::optional<Span> span_of(const SourceObserver& observer) {
  const auto& anchors = observer.trace.anchors();
  if (!observer.clock.is_valid() || anchors.empty()) return std::nullopt;
  return Span{observer.clock.axis_ns(anchors.front().counter), observer.clock.axis_ns(anchors.back().counter)};
}

class UnobservedNodes {
 public:
  UnobservedNodes(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics)
      : sources_(sources), time_(time), diagnostics_(diagnostics) {}

  void add_all() {
    const std::vector<Span> tasks = spans_of_tasks(sources_);
    for (std::uint32_t node = 0; node < sources_.nodes.size(); ++node) add_node(node, tasks[node]);
  }

 private:
  void add(std::uint32_t node, Severity severity, const char* code, const std::string& text) {
    diagnostics_->add(severity, code, {runfile::kNoNumber, runfile::kNoIndex, node}, 1,
                      "node " + sources_.nodes[node].host + " " + text);
  }

  void add_gap(std::uint32_t node, std::int64_t begin_ns, std::int64_t end_ns, const char* why) {
    add(node, Severity::kWarning, "node.gap",
        "was not observed for " + seconds(end_ns - begin_ns) + " from " + time_.words(begin_ns) + ": " + why);
  }

  void add_node(std::uint32_t node, const Span& tasks) {
    bool has_observer = false;
    std::vector<Span> observed;  // by their beginning, as observers are
    for (const SourceObserver& observer : sources_.observers) {
      if (observer.node != node) continue;
      has_observer = true;
      if (const auto span = span_of(observer)) observed.push_back(*span);
    }
    if (!has_observer && !tasks.is_empty()) {
      const bool is_short = tasks.end_ns - tasks.begin_ns < kToleranceNs;
      add(node, is_short ? Severity::kInfo : Severity::kWarning, "node.not-observed",
          "was not observed: no observer left a spool; its network ports and GPUs are unknown");
    }
    if (observed.empty()) return;
    std::int64_t until_ns = observed.front().end_ns;
    for (const Span& span : observed) {
      if (span.begin_ns > until_ns) {
        add_gap(node, until_ns, span.begin_ns, "its observer ended and another took over");
      }
      until_ns = std::max(until_ns, span.end_ns);
    }
    if (tasks.is_empty()) return;
    if (observed.front().begin_ns - tasks.begin_ns > kToleranceNs) {
      add_gap(node, tasks.begin_ns, observed.front().begin_ns, "its tasks ran before its observer");
    }
    if (tasks.end_ns - until_ns > kToleranceNs) {
      add_gap(node, until_ns, tasks.end_ns, "its observer ended before its tasks");
    }
  }

  const RunSources& sources_;
  const RunTime& time_;
  Diagnostics* diagnostics_;
};

}  // namespace

void diagnose_unobserved(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics) {
  UnobservedNodes(sources, time, diagnostics).add_all();
}

}  // namespace jaxprof::assembly

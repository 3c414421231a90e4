#include "merge/study/window_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "merge/runfile/rank_ranges.h"
#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// First and last opening of some processes, on the run's time axis, ns.
struct Extent {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = -1;
  std::int64_t n = 0;

  void take(std::int64_t open_ns) {
    first_ns = std::min(first_ns, open_ns);
    last_ns = std::max(last_ns, open_ns);
    ++n;
  }
};

struct Opening {
  std::vector<std::int32_t> ranks;
  std::map<std::string, std::int64_t> causes;  // "opened: step"
  std::set<std::int64_t> steps;
  Extent all;
  std::map<std::uint32_t, Extent> by_node;
};

// "opened: step x4, closed: exit x1, closed: step x3; opened at step 200"
std::string detail_of(const Opening& opening) {
  std::string text;
  for (const auto& [cause, n] : opening.causes) text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", cause, n);
  if (!opening.steps.empty()) {
    std::string steps;
    for (const std::int64_t step : opening.steps) steps += fmt::format("{}{}", steps.empty() ? "" : ", ", step);
    text += "; opened at step " + steps;
  }
  return text;
}

std::string cause_word(WindowCause cause) {
  return cause == WindowCause::kMissing ? "not told" : std::string(word(cause));
}

// Openings on several nodes are compared only if it is known how far their clocks are apart.
void add_spread(Sections& out, const RunTables& run, const std::string& item, const Opening& opening) {
  if (opening.all.n < 2) return;
  const double bound_ns = run.attributes.clock_bound_ns;
  if (opening.by_node.size() < 2 || !std::isnan(bound_ns)) {
    out.amount(item, opening.all.last_ns - opening.all.first_ns, "ns",
               opening.by_node.size() < 2 ? "" : "the nodes' clocks may be " + human_time(bound_ns) + " apart");
    return;
  }
  std::int64_t widest_ns = -1;
  for (const auto& [node, extent] : opening.by_node) {
    if (extent.n > 1) widest_ns = std::max(widest_ns, extent.last_ns - extent.first_ns);
  }
  if (widest_ns < 0) return out.text(item, "unknown: the processes are on different nodes, whose clocks have no bound");
  out.amount(item, widest_ns, "ns", "within a node at most; between nodes unknown, as their clocks have no bound");
}

}  // namespace

void add_windows(Sections& out, const RunTables& run) {
  out.begin("windows");
  out.text("window", run.attributes.window.empty() ? "always open" : run.attributes.window);
  const SegmentTable& t = run.segments;
  std::map<std::uint32_t, Opening> by_number;
  std::set<std::uint32_t> opened;
  for (std::size_t i = 0; i < t.process.size(); ++i) {
    Opening& opening = by_number[t.segment[i]];
    opened.insert(t.process[i]);
    opening.ranks.push_back(run.processes.rank[t.process[i]]);
    ++opening.causes["opened: " + cause_word(t.open_cause[i])];
    ++opening.causes["closed: " + cause_word(t.close_cause[i])];
    if (t.open_step[i] != kNoPayload) opening.steps.insert(t.open_step[i]);
    if (t.open_ns[i] < 0) continue;
    opening.all.take(t.open_ns[i]);
    opening.by_node[run.processes.node[t.process[i]]].take(t.open_ns[i]);
  }
  out.count("processes that opened one", static_cast<std::int64_t>(opened.size()));
  out.count("segments", static_cast<std::int64_t>(t.process.size()));
  constexpr std::size_t kShown = 8;
  std::size_t shown = 0;
  for (const auto& [number, opening] : by_number) {
    if (++shown > kShown) {
      out.count("further segments", static_cast<std::int64_t>(by_number.size() - kShown));
      break;
    }
    const std::string name = "segment " + std::to_string(number);
    out.count(name, static_cast<std::int64_t>(opening.ranks.size()),
              rank_ranges(opening.ranks) + ": " + detail_of(opening));
    add_spread(out, run, name + ", spread of openings", opening);
  }
}

}  // namespace jaxprof::study

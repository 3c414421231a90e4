#include "merge/study/window_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

struct Opening {
  std::vector<std::int32_t> ranks;
  std::map<std::string, std::int64_t> causes;  // "opened: step"
  std::set<std::int64_t> steps;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = -1;
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
    opening.first_ns = std::min(opening.first_ns, t.open_ns[i]);
    opening.last_ns = std::max(opening.last_ns, t.open_ns[i]);
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
    if (opening.ranks.size() > 1 && opening.last_ns >= 0) {
      out.amount(name + ", spread of openings", opening.last_ns - opening.first_ns, "ns");
    }
  }
}

}  // namespace jaxprof::study

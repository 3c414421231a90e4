#include "merge/study/step_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "merge/runfile/rank_ranges.h"
#include "merge/study/distribution.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// Whose step it is: a rank, or a process whose rank is unknown.
struct Owner {
  std::int32_t rank = kNoNumber;
  std::uint32_t process = 0;  // 0 where the rank is known
  auto operator<=>(const Owner&) const = default;
};

Owner owner_of(const RunTables& run, std::size_t row) {
  const std::uint32_t process = run.steps.process[row];
  const std::int32_t rank = process < run.processes.rank.size() ? run.processes.rank[process] : kNoNumber;
  return {rank, rank >= 0 ? 0 : process};
}

std::string words(const Owner& owner) {
  return owner.rank >= 0 ? fmt::format("rank {}", owner.rank) : fmt::format("process {}", owner.process);
}

// What the merge found, in its words.
std::string reason_for_none(const RunTables& run) {
  for (std::size_t row = 0; row < run.diagnostics.code.size(); ++row) {
    if (run.strings.text(run.diagnostics.code[row]) == "step.none") {
      return std::string(run.strings.text(run.diagnostics.text[row]));
    }
  }
  if (run.attributes.step_marker == "none") return "none were looked for";
  if (run.processes.process.empty()) return "no process recorded anything";
  return "the spools do not say what marks a step: they are from before jaxprof asked";
}

std::string source_words(const RunTables& run) {
  std::set<StepSource> sources(run.steps.source.begin(), run.steps.source.end());
  std::string text;
  for (const StepSource source : sources) text += (text.empty() ? "" : ", ") + std::string(word(source));
  return text;
}

void add_numbers(Sections& out, const RunTables& run) {
  const std::set<std::int64_t> numbers(run.steps.step.begin(), run.steps.step.end());
  std::set<Owner> owners;
  for (std::size_t row = 0; row < run.steps.step.size(); ++row) owners.insert(owner_of(run, row));
  std::vector<std::int32_t> ranks;
  for (const Owner& owner : owners) ranks.push_back(owner.rank);
  const auto n = static_cast<std::int64_t>(numbers.size());
  const std::string span = n == 1 ? fmt::format("number {}", *numbers.begin())
                                  : fmt::format("numbers {} to {}", *numbers.begin(), *numbers.rbegin());
  out.count("steps", n, fmt::format("{}, by {}", span, source_words(run)));
  out.count("ranks with steps", static_cast<std::int64_t>(ranks.size()), rank_ranges(ranks));
  out.count("steps of all ranks", static_cast<std::int64_t>(run.steps.step.size()));
}

// Durations of all ranks together, then the medians of the ranks at both ends.
void add_durations(Sections& out, const RunTables& run) {
  std::vector<std::size_t> rows;  // of steps that ended, the shortest first
  for (std::size_t row = 0; row < run.steps.step.size(); ++row) {
    if (run.steps.dur_ns[row] != kNoTime) rows.push_back(row);
  }
  const auto never_ended = static_cast<std::int64_t>(run.steps.step.size() - rows.size());
  if (never_ended > 0) out.count("never ended", never_ended, "they have no duration");
  if (rows.empty()) return;
  std::stable_sort(rows.begin(), rows.end(),
                   [&run](std::size_t a, std::size_t b) { return run.steps.dur_ns[a] < run.steps.dur_ns[b]; });
  std::vector<std::int64_t> all;
  std::map<Owner, std::vector<std::int64_t>> by_owner;
  for (const std::size_t row : rows) {
    all.push_back(run.steps.dur_ns[row]);
    by_owner[owner_of(run, row)].push_back(run.steps.dur_ns[row]);
  }
  const auto at = [&run](std::size_t row) {
    return fmt::format("step {} of {}", run.steps.step[row], words(owner_of(run, row)));
  };
  out.amount("duration, shortest", all.front(), "ns", at(rows.front()));
  out.amount("duration, median", percentile(all, 0.5), "ns", "of all ranks' steps");
  out.amount("duration, longest", all.back(), "ns", at(rows.back()));
  if (by_owner.size() < 2) return;
  std::map<double, Owner> medians;  // of ranks with the same one the first
  for (const auto& [owner, dur_ns] : by_owner) medians.try_emplace(percentile(dur_ns, 0.5), owner);
  out.amount("median of a rank, smallest", medians.begin()->first, "ns", words(medians.begin()->second));
  out.amount("median of a rank, largest", medians.rbegin()->first, "ns", words(medians.rbegin()->second));
}

}  // namespace

void add_steps(Sections& out, const RunTables& run) {
  out.begin("steps");
  out.text("marker", run.attributes.step_marker.empty() ? "unknown" : run.attributes.step_marker);
  if (run.steps.step.empty()) {
    out.count("steps", 0, reason_for_none(run));
    return;
  }
  add_numbers(out, run);
  add_durations(out, run);
}

}  // namespace jaxprof::study

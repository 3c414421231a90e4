// What lateness and pace say.
#include <algorithm>

#include "agent/base/parse_number.h"
#include "merge/study/lateness.h"
#include "merge/study/pace.h"
#include "tests/unit/synthetic/study_claims.h"
#include "tests/unit/synthetic/study_rows.h"

namespace jaxprof::test {

// The rank that comes late by its own doing, where another of its node is late because it waits for it.
Score latest_of_its_own(const FiledTraining& run) {
  const study::Table table = study::lateness(run.tables(), {});
  const StudyRows rows(table);
  double most_ns = 0;
  double latest = -1;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double own_ns = rows.number(row, "self_p95_ns", 0);
    if (own_ns <= most_ns) continue;
    most_ns = own_ns;
    latest = rows.number(row, "rank", -1);
  }
  const std::uint32_t injected = main_cause(run)->ranks.front();
  return Score::of_run(
      latest == injected ? "" : "rank " + std::to_string(latest) + " instead of " + std::to_string(injected));
}

// But for a stall of a host's own, which is long now and then.
Score is_hardly_certain(const FiledTraining& run) {
  constexpr double kOddOnes = 0.05;
  const study::Table table = study::lateness(run.tables(), {});
  const StudyRows rows(table);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string certain = rows.text(row, "certain");  // "0 of 80"
    const auto n_certain = parse_uint64(certain.substr(0, certain.find(' ')));
    const double n = rows.number(row, "instances", 0);
    if (!n_certain || static_cast<double>(*n_certain) > kOddOnes * n) return Score::of_run(certain + " are certain");
  }
  return Score::of_run("");
}

Score is_mostly_unresolved(const FiledTraining& run) {
  const study::Table table = study::lateness(run.tables(), {});
  const StudyRows rows(table);
  const double n = rows.parameter("instances", 0);
  const double unresolved = rows.parameter("unresolved", 0);
  return Score::of_run(
      unresolved > 0.75 * n ? "" : std::to_string(unresolved) + " of " + std::to_string(n) + " are unresolved");
}

Score has_nothing_to_compare(const FiledTraining& run) {
  const study::Table table = study::lateness(run.tables(), {});
  return Score::of_run(table.rows.empty() && !table.empty_reason.empty() ? "" : table.verdict);
}

// In nearly all steps that have one, the rank that came last to the step's collectives is the straggler of that step.
Score names_the_last_of_each_step(const FiledTraining& run) {
  const study::Table table = study::pace(run.tables(), {});
  const StudyRows rows(table);
  Score score;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto step = static_cast<std::size_t>(rows.number(row, "step", 0));
    if (run.truth().steps[step].injected.empty()) continue;
    const auto& ranks = run.truth().steps[step].injected.front().ranks;
    const auto last = static_cast<std::uint32_t>(rows.number(row, "last_rank", -1));
    const bool is_right = std::find(ranks.begin(), ranks.end(), last) != ranks.end();
    score.count(is_right, "step " + std::to_string(step) + ": rank " + std::to_string(last));
  }
  return score;
}

Score shows_which_steps_are_slow(const FiledTraining& run) {
  const study::Table table = study::pace(run.tables(), {});
  const StudyRows rows(table);
  constexpr double kSlow = 1.15;
  Score score;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto step = static_cast<std::size_t>(rows.number(row, "step", 0));
    const double slowdown = rows.number(row, "slowdown", 0);
    const bool is_slow = !run.truth().steps[step].injected.empty();
    score.count((slowdown > kSlow) == is_slow, "step " + std::to_string(step) + ": " + std::to_string(slowdown));
  }
  return score;
}

}  // namespace jaxprof::test

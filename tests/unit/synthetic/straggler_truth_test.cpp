// What the studies say of stragglers whose place and cause is known, over many seeds: right in nearly all, and silent
// where nobody is late or nothing can tell.
//
// JAXPROF_STRAGGLER_SEEDS sets how many seeds of each scenario; a hundred take half a minute.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/base/parse_number.h"
#include "merge/study/lateness.h"
#include "merge/study/pace.h"
#include "merge/study/whatif.h"
#include "tests/synthetic/scenario.h"
#include "tests/unit/synthetic/merged_training.h"
#include "tests/unit/synthetic/study_rows.h"

namespace jaxprof::test {
namespace {

using synthetic::InjectedCause;

std::uint64_t seed_count() {
#ifdef NDEBUG
  constexpr std::uint64_t kUsual = 100;
#else
  constexpr std::uint64_t kUsual = 3;  // sanitizers take their time
#endif
  const char* text = std::getenv("JAXPROF_STRAGGLER_SEEDS");
  return text != nullptr ? parse_uint64(text).value_or(kUsual) : kUsual;
}

// The cause of most of the run's steps; null where there is none.
const InjectedCause* main_cause(const MergedTraining& run) {
  for (const auto& step : run.truth.steps) {
    if (!step.injected.empty()) return &step.injected.front();
  }
  return nullptr;
}

// What is wrong with what a study says of the run; "" if nothing.
using Judge = std::string (*)(const MergedTraining& run);

// What has to hold in at least that share of the runs of a scenario.
struct Claim {
  double share;
  const char* what;
  Judge judge;
};

// How many runs break a claim, and what was said of the first.
struct Broken {
  std::size_t count = 0;
  std::string first;
};

// Runs of all seeds, several at once, each judged by all claims.
std::vector<Broken> judge_seeds(const std::string& scenario, const std::vector<Claim>& claims) {
  std::vector<Broken> broken(claims.size());
  std::mutex mutex;
  std::atomic<std::uint64_t> next{1};
  const auto work = [&] {
    for (std::uint64_t seed = next++; seed <= seed_count(); seed = next++) {
      const auto run = merge_training(*synthetic::scenario_plan(scenario, seed));
      for (std::size_t i = 0; i < claims.size(); ++i) {
        const std::string fault = run ? claims[i].judge(*run) : run.error().message;
        const std::lock_guard lock(mutex);
        if (fault.empty()) continue;
        if (broken[i].count++ == 0) broken[i].first = "seed " + std::to_string(seed) + ": " + fault;
      }
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  threads.clear();
  return broken;
}

bool is_nearly_all(std::size_t part, std::size_t whole) {
  constexpr double kNearlyAll = 0.95;
  return static_cast<double>(part) >= kNearlyAll * static_cast<double>(whole);
}

std::string counted(std::size_t part, std::size_t whole, const char* what) {
  return std::to_string(part) + " of " + std::to_string(whole) + " " + what;
}

// ---- lateness

// The rank that comes late by its own doing, where another of its node is late because it waits for it.
std::string latest_of_its_own(const MergedTraining& run) {
  const study::Table table = study::lateness(run.tables, {});
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
  return latest == injected ? "" : "rank " + std::to_string(latest) + " instead of " + std::to_string(injected);
}

// But for a stall of a host's own, which is long now and then.
std::string is_hardly_certain(const MergedTraining& run) {
  constexpr double kOddOnes = 0.05;
  const study::Table table = study::lateness(run.tables, {});
  const StudyRows rows(table);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string certain = rows.text(row, "certain");  // "0 of 80"
    const auto n_certain = parse_uint64(certain.substr(0, certain.find(' ')));
    const double n = rows.number(row, "instances", 0);
    if (!n_certain || static_cast<double>(*n_certain) > kOddOnes * n) return certain + " are certain";
  }
  return "";
}

std::string is_mostly_unresolved(const MergedTraining& run) {
  const study::Table table = study::lateness(run.tables, {});
  const StudyRows rows(table);
  const double n = rows.parameter("instances", 0);
  const double unresolved = rows.parameter("unresolved", 0);
  return unresolved > 0.75 * n ? "" : std::to_string(unresolved) + " of " + std::to_string(n) + " are unresolved";
}

std::string has_nothing_to_compare(const MergedTraining& run) {
  const study::Table table = study::lateness(run.tables, {});
  return table.rows.empty() && !table.empty_reason.empty() ? "" : table.verdict;
}

// ---- pace

// In nearly all steps that have one, the rank that came last to the step's collectives is the straggler of that step.
std::string names_the_last_of_each_step(const MergedTraining& run) {
  const study::Table table = study::pace(run.tables, {});
  const StudyRows rows(table);
  std::size_t n_steps = 0;
  std::size_t n_right = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto step = static_cast<std::size_t>(rows.number(row, "step", 0));
    if (run.truth.steps[step].injected.empty()) continue;
    const auto& ranks = run.truth.steps[step].injected.front().ranks;
    ++n_steps;
    const auto last = static_cast<std::uint32_t>(rows.number(row, "last_rank", -1));
    n_right += std::find(ranks.begin(), ranks.end(), last) != ranks.end() ? 1 : 0;
  }
  return is_nearly_all(n_right, n_steps) ? "" : counted(n_right, n_steps, "steps");
}

std::string shows_which_steps_are_slow(const MergedTraining& run) {
  const study::Table table = study::pace(run.tables, {});
  const StudyRows rows(table);
  constexpr double kSlow = 1.15;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto step = static_cast<std::size_t>(rows.number(row, "step", 0));
    const double slowdown = rows.number(row, "slowdown", 0);
    const bool is_slow = !run.truth.steps[step].injected.empty();
    if ((slowdown > kSlow) != is_slow) return "step " + std::to_string(step) + ": " + std::to_string(slowdown);
  }
  return rows.size() == run.truth.steps.size() ? "" : "it has " + std::to_string(rows.size()) + " steps";
}

// ---- what-if

// Of a replayed scenario; NaN if it is not there.
double gain_of(const StudyRows& rows, std::string_view scenario) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.text(row, "scenario") == scenario) return rows.number(row, "gain", std::nan(""));
  }
  return std::nan("");
}

double replayed_ns(const StudyRows& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows.text(row, "scenario") == "replayed") return rows.number(row, "time_ns", 0);
  }
  return 0;
}

// What the job would have saved: the others wait for the slowest, and all for transfers.
double true_excess_ns(const MergedTraining& run) {
  std::int64_t sum_ns = 0;
  for (const auto& step : run.truth.steps) {
    sum_ns += *std::max_element(step.excess_ns.begin(), step.excess_ns.end()) + step.transfer_excess_ns;
  }
  return static_cast<double>(sum_ns);
}

// Which part of it the study can find: mended is what has the mean of its communicator's members, the slow ones among
// them, and two of eight slow ones, or one of two in a communicator of a node, pull it up.
struct Part {
  double least;
  double most;
};
Part mended_part(const MergedTraining& run) {
  std::uint32_t smallest = UINT32_MAX;
  for (const std::uint32_t size : run.tables.comms.n_ranks) smallest = std::min(smallest, size);
  const InjectedCause* cause = main_cause(run);
  const auto n_slow = cause == nullptr ? 0 : static_cast<double>(cause->ranks.size());
  const auto n_all = static_cast<double>(run.truth.wait_ns.size());
  return {1 - n_slow / std::min(n_all, static_cast<double>(smallest)), 1 - n_slow / n_all};
}

// Close to the true gain, but for what jitter and noise cost the job.
std::string fault_of_gain(const StudyRows& rows, const std::string& scenario, const MergedTraining& run) {
  constexpr double kNoise = 0.012;
  const double gain = gain_of(rows, scenario);
  const double excess = true_excess_ns(run) / replayed_ns(rows);
  const Part part = mended_part(run);
  const bool is_right = gain > 0.95 * part.least * excess - kNoise && gain < 1.05 * part.most * excess + kNoise;
  return is_right ? "" : scenario + " gains " + std::to_string(gain) + ", in truth " + std::to_string(excess);
}

std::string gains_what_the_straggler_cost(const MergedTraining& run) {
  const study::Table table = study::whatif(run.tables, {});
  const StudyRows rows(table);
  const InjectedCause& cause = *main_cause(run);
  if (cause.node >= 0) {
    std::string host = std::to_string(cause.node);
    host.insert(0, 4 - host.size(), '0');
    return fault_of_gain(rows, "node node" + host + " like the others", run);
  }
  return fault_of_gain(rows, "rank " + std::to_string(cause.ranks.front()) + " like the others", run);
}

std::string gains_what_transfers_cost(const MergedTraining& run) {
  const study::Table table = study::whatif(run.tables, {});
  return fault_of_gain(StudyRows(table), "transfers at their median", run);
}

std::string gains_what_all_cost(const MergedTraining& run) {
  const study::Table table = study::whatif(run.tables, {});
  return fault_of_gain(StudyRows(table), "all alike, transfers too", run);
}

// ---- scenarios

const Claim kLatestOfItsOwn{0.95, "lateness: the straggler is the rank that is late by its own doing",
                            latest_of_its_own};
const Claim kHardlyCertain{1, "lateness: names nobody for certain", is_hardly_certain};
const Claim kLastOfSteps{0.95, "pace: the straggler comes last in 95 % of the steps", names_the_last_of_each_step};
const Claim kSlowSteps{0.95, "pace: slow steps are slow, and no others", shows_which_steps_are_slow};
const Claim kGain{0.95, "whatif: the job would gain what the straggler cost", gains_what_the_straggler_cost};
const Claim kGainOfTransfers{0.95, "whatif: the job would gain what slow transfers cost", gains_what_transfers_cost};
const Claim kGainOfAll{0.95, "whatif: the job would gain what all of them cost", gains_what_all_cost};

const std::map<std::string, std::vector<Claim>>& claims() {
  const std::vector<Claim> of_a_rank = {kLatestOfItsOwn, kLastOfSteps, kGain, kGainOfAll};
  static const std::map<std::string, std::vector<Claim>> kClaims = {
      {"clean", {kGainOfAll}},
      {"clean-in-nodes", {kGainOfAll}},
      {"warm-up", {}},
      {"host", of_a_rank},
      {"host-once", {kLatestOfItsOwn, kGain, kGainOfAll}},
      {"kernels", of_a_rank},
      {"copy", {kLatestOfItsOwn, kGain, kGainOfAll}},
      {"node", {kLastOfSteps, kGain, kGainOfAll}},
      {"nic", {}},
      {"network", {kSlowSteps, kGainOfTransfers}},
      {"rotating", {kLastOfSteps, kGainOfAll}},
      {"three-steps", {kLastOfSteps, kSlowSteps, kGain, kGainOfAll}},
      {"host-in-nodes", of_a_rank},
      {"sub-comms", of_a_rank},
      {"lost-call", of_a_rank},
      {"late-step", of_a_rank},
      {"skew", {kHardlyCertain, {0.95, "lateness: cannot tell", is_mostly_unresolved}}},
      {"crooked", {kHardlyCertain}},
      {"one-traced", {{1, "lateness: has nobody to compare", has_nothing_to_compare}}},
  };
  return kClaims;
}

class StragglerTruth : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> claimed_scenarios() {
  std::vector<std::string> names;
  for (const auto& [name, of_it] : claims()) {
    if (!of_it.empty()) names.push_back(name);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(EachScenario, StragglerTruth, ::testing::ValuesIn(claimed_scenarios()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(StragglerTruth, IsWhatStudiesSay) {
  const std::vector<Claim>& of_it = claims().at(GetParam());
  const std::vector<Broken> broken = judge_seeds(GetParam(), of_it);
  for (std::size_t i = 0; i < of_it.size(); ++i) {
    const auto n_seeds = static_cast<double>(seed_count());
    EXPECT_LE(static_cast<double>(broken[i].count), (1 - of_it[i].share) * n_seeds + 1e-9)
        << of_it[i].what << ": not in " << broken[i].count << " of " << n_seeds << " runs; " << broken[i].first;
  }
}

}  // namespace
}  // namespace jaxprof::test

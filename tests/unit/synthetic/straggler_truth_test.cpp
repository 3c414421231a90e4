// What the studies say of stragglers whose place and cause is known, over many seeds: right in nearly all, and silent
// where nobody is late or nothing can tell.
//
// JAXPROF_STRAGGLER_SEEDS sets how many seeds of each scenario; a hundred take half a minute.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/base/parse_number.h"
#include "merge/study/lateness.h"
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

// ---- scenarios

const Claim kLatestOfItsOwn{0.95, "lateness: the straggler is the rank that is late by its own doing",
                            latest_of_its_own};
const Claim kHardlyCertain{1, "lateness: names nobody for certain", is_hardly_certain};

const std::map<std::string, std::vector<Claim>>& claims() {
  static const std::map<std::string, std::vector<Claim>> kClaims = {
      {"host", {kLatestOfItsOwn}},
      {"host-once", {kLatestOfItsOwn}},
      {"kernels", {kLatestOfItsOwn}},
      {"copy", {kLatestOfItsOwn}},
      {"host-in-nodes", {kLatestOfItsOwn}},
      {"sub-comms", {kLatestOfItsOwn}},
      {"lost-call", {kLatestOfItsOwn}},
      {"late-step", {kLatestOfItsOwn}},
      {"skew", {kHardlyCertain, {0.95, "lateness: cannot tell", is_mostly_unresolved}}},
      {"crooked", {kHardlyCertain}},
      {"one-traced", {{1, "lateness: has nobody to compare", has_nothing_to_compare}}},
  };
  return kClaims;
}

class StragglerTruth : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> claimed_scenarios() {
  std::vector<std::string> names;
  for (const auto& [name, of_it] : claims()) names.push_back(name);
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

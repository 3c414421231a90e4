// What the studies say of stragglers whose place and cause is known, over many seeds: right in nearly all, and silent
// where nobody is late or nothing can tell.
//
// JAXPROF_STRAGGLER_SEEDS sets how many seeds of each scenario; a hundred take a minute of two processors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "agent/base/parse_number.h"
#include "tests/synthetic/scenario.h"
#include "tests/unit/synthetic/study_claims.h"

namespace jaxprof::test {
namespace {

std::uint64_t seed_count() {
#ifdef NDEBUG
  constexpr std::uint64_t kUsual = 100;
#else
  constexpr std::uint64_t kUsual = 3;  // sanitizers take their time
#endif
  const char* text = std::getenv("JAXPROF_STRAGGLER_SEEDS");
  return text != nullptr ? parse_uint64(text).value_or(kUsual) : kUsual;
}

const Claim kLatestOfItsOwn{0.95, "lateness: the straggler is the rank that is late by its own doing",
                            latest_of_its_own};
const Claim kHardlyCertain{1, "lateness: names nobody for certain", is_hardly_certain};
const Claim kLastOfSteps{0.95, "pace: the straggler comes last to its steps", names_the_last_of_each_step};
const Claim kSlowSteps{0.95, "pace: slow steps are slow, and no others", shows_which_steps_are_slow};
const Claim kGain{0.95, "whatif: the job would gain what the straggler cost", gains_what_the_straggler_cost};
const Claim kGainOfTransfers{0.95, "whatif: the job would gain what slow transfers cost", gains_what_transfers_cost};
const Claim kGainOfAll{0.95, "whatif: the job would gain what all of them cost", gains_what_all_cost};
const Claim kSteps{0.95, "stragglers: who, level and cause of each step", judges_each_step};
const Claim kVerdict{0.95, "stragglers: who, level and cause of the run", names_the_straggler};
const Claim kNobody{1, "stragglers: no verdict", names_nobody};
const Claim kVerdictOfSteps{0.95, "stragglers: names the slow steps", names_the_slow_steps};
const Claim kMoves{0.95, "stragglers: says that lateness moves", says_that_lateness_moves};
const Claim kShares{1, "stragglers: waits and blame are those of the job", shares_out_waiting};

const std::map<std::string, std::vector<Claim>>& claims() {
  const std::vector<Claim> always = {kVerdict, kSteps, kShares, kLatestOfItsOwn, kLastOfSteps, kGain, kGainOfAll};
  const std::vector<Claim> once_a_step = {kVerdict, kSteps, kShares, kLatestOfItsOwn, kGain, kGainOfAll};
  static const std::map<std::string, std::vector<Claim>> kClaims = {
      {"clean", {kNobody, kSteps, kShares, kGainOfAll}},
      {"clean-in-nodes", {kNobody, kSteps, kGainOfAll}},
      {"warm-up", {kNobody, kSteps}},
      {"host", always},
      {"host-once", once_a_step},
      {"kernels", always},
      {"copy", once_a_step},
      {"node", {kVerdict, kSteps, kShares, kLastOfSteps, kGain, kGainOfAll}},
      {"nic", {kVerdict}},
      {"network", {kVerdictOfSteps, kSteps, kSlowSteps, kGainOfTransfers}},
      {"rotating", {kMoves, kSteps, kShares, kLastOfSteps, kGainOfAll}},
      {"three-steps", {kVerdictOfSteps, kSteps, kShares, kLastOfSteps, kSlowSteps, kGain, kGainOfAll}},
      {"host-in-nodes", always},
      {"sub-comms", always},
      {"lost-call", always},
      {"late-step", {kVerdict, kShares, kLatestOfItsOwn, kLastOfSteps, kGain, kGainOfAll}},
      {"skew", {kNobody, kSteps, kHardlyCertain, {0.95, "lateness: cannot tell", is_mostly_unresolved}}},
      {"crooked", {kNobody, kSteps, kHardlyCertain}},
      {"missing-rank", {kVerdict}},
      {"one-traced",
       {{1, "lateness: has nobody to compare", has_nothing_to_compare},
        {1, "stragglers: can judge nobody", can_judge_nobody}}},
  };
  return kClaims;
}

class StragglerTruth : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const synthetic::Scenario& scenario : synthetic::scenarios()) names.emplace_back(scenario.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(EachScenario, StragglerTruth, ::testing::ValuesIn(scenario_names()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(StragglerTruth, IsWhatStudiesSay) {
  ASSERT_TRUE(claims().contains(GetParam()));
  const std::vector<Claim>& of_it = claims().at(GetParam());
  const std::vector<Score> scores = judge_seeds(GetParam(), seed_count(), of_it);
  for (std::size_t i = 0; i < of_it.size(); ++i) {
    const Score& score = scores[i];
    EXPECT_GE(static_cast<double>(score.right), of_it[i].share * static_cast<double>(score.total))
        << of_it[i].what << ": in " << score.right << " of " << score.total << "; " << score.fault;
  }
}

}  // namespace
}  // namespace jaxprof::test

// Steps, from the program's NVTX calls to their numbers as the merge reads them.
#include "merge/match/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/unit/collect/child_run.h"

namespace jaxprof::nvtx {
namespace {

using match::ProcessSteps;
using runfile::StepSource;
using test::ChildRun;
using testing::ElementsAre;
using testing::IsEmpty;

class Steps : public testing::Test {
 protected:
  // What the scenario's process looks like after the merge read it.
  void run(const char* scenario, const char* marker = "step") {
    ASSERT_EQ(parse_step_marker(marker, &child_.plan().step_marker), nullptr);
    ASSERT_EQ(child_.run(JAXPROF_CHILD, scenario), 0) << scenario;
    ASSERT_EQ(child_.all_drops(), 0u);
    const rundir::SpoolTrace trace = child_.trace();
    EXPECT_EQ(trace.identity().text(spool::IdentityKey::kStepMarker), marker);
    match::NvtxRangeBuilder builder;
    trace.for_each_event([&builder](std::uint32_t thread, const spool::Event& event) { builder.add(thread, event); });
    nvtx_ = std::move(builder).finish();
    StepMarker read;
    ASSERT_TRUE(match::read_step_marker(trace, &read));
    found_ = match::find_steps(trace, read, nvtx_);
  }
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> numbers;
    for (const match::Step& step : found_.steps) numbers.push_back(step.number);
    return numbers;
  }
  std::vector<StepSource> sources() const {
    std::vector<StepSource> sources;
    for (const match::Step& step : found_.steps) sources.push_back(step.source);
    return sources;
  }
  const match::NvtxRange& range(std::size_t step) const { return nvtx_.ranges[found_.steps[step].range]; }

  ChildRun child_;
  match::NvtxRanges nvtx_;
  ProcessSteps found_;
};

TEST_F(Steps, AreCountedInEveryFormOfARange) {
  run("every_form");
  ASSERT_THAT(numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(sources(), testing::Each(StepSource::kOrdinal));
  EXPECT_EQ(range(5).kind, match::RangeKind::kStartEnd);
  for (std::size_t step = 0; step < 7; ++step) EXPECT_TRUE(range(step).has_end) << step;
  EXPECT_EQ(found_.nested, 0u);
}

TEST_F(Steps, OfAnotherDomainAreThoseOfThatDomainOnly) {
  run("every_form", "step@other");
  EXPECT_THAT(numbers(), ElementsAre(0));
}

TEST_F(Steps, OfAnyDomainAreAllWithTheName) {
  run("every_form", "step@*");
  EXPECT_THAT(numbers(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(Steps, AreNotCountedWithoutAMarker) {
  run("every_form", "none");
  EXPECT_THAT(numbers(), IsEmpty());
  for (const match::NvtxRange& range : nvtx_.ranges) EXPECT_EQ(range.step, 0u);
}

TEST_F(Steps, ThatAreMarkedElsewhereAreNamed) {
  run("every_form", "step@nowhere");
  EXPECT_THAT(numbers(), IsEmpty());
  EXPECT_THAT(found_.alternatives,
              ElementsAre(testing::Pair("", 3), testing::Pair("jaxprof", 4), testing::Pair("other", 1)));
}

TEST_F(Steps, TakeTheirNumbersFromIntegersOfEveryType) {
  run("payload_types");
  EXPECT_THAT(numbers(), ElementsAre(-3, 4'000'000'000'000, -5, 4'000'000'000, 4, 5, 6, 7));
  constexpr auto kPayload = StepSource::kPayload;
  constexpr auto kOrdinal = StepSource::kOrdinal;
  EXPECT_THAT(sources(), ElementsAre(kPayload, kPayload, kPayload, kPayload, kOrdinal, kOrdinal, kOrdinal, kOrdinal))
      << "floats, and integers that a step cannot have";
  EXPECT_EQ(found_.unusable_payloads, 4u);
}

TEST_F(Steps, AreTheOutermostPushedMarkersOfTheirThreadAndAllThatAreStarted) {
  run("nested");
  ASSERT_THAT(numbers(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(range(4).depth, 1);
  EXPECT_EQ(found_.nested, 3u);
  EXPECT_EQ(found_.swallowed, 0u);
}

TEST_F(Steps, InsideOneThatNeverEndedAreLostAndSaidToBe) {
  run("never_ended");
  EXPECT_THAT(numbers(), ElementsAre(0, 1));
  EXPECT_EQ(found_.swallowed, 2u);
  EXPECT_EQ(found_.nested, 0u);
}

TEST_F(Steps, AreCountedWhileNothingIsRecorded) {
  run("while_closed");
  ASSERT_THAT(numbers(), ElementsAre(4, 5, 7, 9, 10, 11)) << "6 and 8 began unrecorded and are not made up";
  EXPECT_FALSE(range(4).has_end);
  EXPECT_TRUE(range(5).has_end);
  EXPECT_EQ(found_.nested, 1u);
  EXPECT_EQ(nvtx_.ends_without_start, 0u) << "what began unrecorded has no end either";
}

TEST_F(Steps, MayEndOnAnotherThread) {
  run("over_threads");
  ASSERT_THAT(numbers(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(range(0).has_end);
  EXPECT_FALSE(range(2).has_end);
  EXPECT_EQ(found_.nested, 0u);
}

TEST_F(Steps, OfAnXlaModuleCountByThread) {
  run("xla_modules", "xla:jit_step");
  EXPECT_THAT(sources(), testing::Each(StepSource::kXlaModule));
  std::map<std::uint32_t, std::vector<std::int64_t>> by_thread;
  for (std::size_t step = 0; step < found_.steps.size(); ++step) {
    by_thread[range(step).thread].push_back(found_.steps[step].number);
  }
  ASSERT_EQ(by_thread.size(), 2u);
  std::vector<std::vector<std::int64_t>> series;
  for (const auto& [thread, numbers] : by_thread) series.push_back(numbers);
  EXPECT_THAT(series, testing::UnorderedElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST_F(Steps, OfAModuleThatDidNotRunNamesTheOthers) {
  run("xla_modules", "xla:jit_train");
  EXPECT_THAT(numbers(), IsEmpty());
  EXPECT_THAT(found_.alternatives, ElementsAre(testing::Pair("jit_step", 10), testing::Pair("jit_step_init", 8)));
}

}  // namespace
}  // namespace jaxprof::nvtx

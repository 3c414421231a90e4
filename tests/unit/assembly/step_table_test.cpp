// /steps of a run, and what is said of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using runfile::StepSource;
using spool::EventKind;
using spool::IdentityKey;
using test::codes;
using test::findings;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kInt64 = 2;  // NVTX_PAYLOAD_TYPE_INT64
constexpr std::int64_t kDefaultAnchorNs = 1'000'000'000;

// A process whose agent counted steps.
class Stepper : public Recording {
 public:
  explicit Stepper(std::int64_t rank = 0, std::int64_t world_size = 1, const std::string& marker = "step")
      : Recording(rank, world_size, "n" + std::to_string(rank)) {
    set(IdentityKey::kStepMarker, marker);
  }

  // Pushed and popped at depth 0 of the default domain; without a number the ordinal counts.
  void step(std::uint64_t start, std::uint64_t end, std::optional<std::int64_t> number = std::nullopt,
            std::uint32_t thread = 1) {
    begin(start, number, thread);
    pop(thread, 0, 0, end);
  }
  void begin(std::uint64_t start, std::optional<std::int64_t> number = std::nullopt, std::uint32_t thread = 1) {
    event(thread, EventKind::kNvtxPush, string("step"), start,
          {spool::pack(spool::NvtxContext{}), number ? kInt64 : 0, static_cast<std::uint64_t>(number.value_or(0)), 0,
           ++ordinal_});
  }

 private:
  std::uint64_t ordinal_ = 0;
};

TEST(StepTable, HasTheStepsOfEachProcessByTheirStarts) {
  test::RunFolder run;
  for (const std::int64_t rank : {0, 1}) {
    Stepper recording(rank, 2);
    recording.thread(1, 501);
    recording.thread(2, 502);
    if (rank == 0) recording.step(300, 400, 8, 2);  // its block comes first in the file
    if (rank == 0) recording.step(100, 200, 7);
    if (rank == 1) recording.step(150, 190, -7);
    if (rank == 1) recording.begin(350, 9);
    run.add_rank(recording, rank, 2, "n" + std::to_string(rank));
  }
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_EQ(tables.attributes.step_marker, "step");
  EXPECT_THAT(tables.steps.step, ElementsAre(7, 8, -7, 9));
  EXPECT_THAT(tables.steps.process, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(tables.step_process_offset, ElementsAre(0, 2, 4));
  EXPECT_THAT(tables.steps.tid, ElementsAre(501, 502, 501, 501));
  EXPECT_THAT(tables.steps.dur_ns, ElementsAre(100, 100, 40, runfile::kNoTime));
  EXPECT_THAT(tables.steps.source, testing::Each(StepSource::kPayload));
  const auto unix_ns = [&tables](std::size_t row) {
    return tables.steps.start_ns[row] + tables.attributes.epoch_unix_ns;
  };
  EXPECT_EQ(unix_ns(0), kDefaultAnchorNs + 100);
  EXPECT_EQ(unix_ns(3), kDefaultAnchorNs + 350);
}

TEST(StepTable, NothingIsMadeUpOfAnEndAlone) {
  test::RunFolder run;
  Stepper recording;
  recording.pop(1, 0, 0, 100);  // the window opened inside this one
  recording.step(200, 300);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.steps.step, ElementsAre(0));
  EXPECT_THAT(tables.steps.source, ElementsAre(StepSource::kOrdinal));
}

TEST(StepTable, ThatStepsOverlapRepeatOrGoBackIsSaid) {
  test::RunFolder run;
  Stepper recording;
  recording.thread(1, 501);
  recording.thread(2, 502);
  recording.step(100, 200, 5);
  recording.step(150, 250, 6, 2);
  recording.step(300, 400, 5);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(findings(tables, "step.overlap"),
              ElementsAre("rank 0 on n0: 1 step begins before an earlier one of the process has ended, the first being "
                          "step 6 (thread 502) inside step 5 (thread 501): their times do not add up"));
  EXPECT_THAT(findings(tables, "step.repeated"),
              ElementsAre("rank 0 on n0: 1 step has the number of an earlier one of the process: a number does not "
                          "tell which is meant"));
  EXPECT_THAT(findings(tables, "step.backward"),
              ElementsAre("rank 0 on n0: 1 step has a lower number than the one before"));
}

TEST(StepTable, NumberedAndUnnumberedStepsOfOneProcessAreNoSeries) {
  test::RunFolder run;
  Stepper recording;
  recording.step(100, 200, 5);
  recording.step(300, 400);
  run.add_rank(recording, 0, 1, "n0");
  EXPECT_THAT(findings(run.assemble().tables, "step.mixed"),
              ElementsAre("rank 0 on n0: its steps are numbered by payload and ordinal: give all of them an integer "
                          "payload, or none"));
}

TEST(StepTable, RanksThatNumberDifferentlyAreNamed) {
  test::RunFolder run;
  for (const std::int64_t rank : {0, 1, 2}) {
    Stepper recording(rank, 3);
    recording.step(100, 200, rank == 1 ? std::nullopt : std::optional<std::int64_t>(0));
    run.add_rank(recording, rank, 3, "n" + std::to_string(rank));
  }
  EXPECT_THAT(findings(run.assemble().tables, "step.mixed"),
              ElementsAre("steps are numbered by payload on ranks 0,2, ordinal on rank 1: one number may not mean one "
                          "step"));
}

TEST(StepTable, RanksWithoutTheStepsOfOthersAreNamed) {
  test::RunFolder run;
  for (std::int64_t rank = 0; rank < 6; ++rank) {
    Stepper recording(rank, 6);
    for (std::int64_t number = 10; number < 30; ++number) {
      const bool is_hole = (rank == 2 || rank == 3) && number >= 17 && number <= 19;
      if (is_hole || (rank == 1 && number < 12) || (rank == 4 && number > 27) || rank == 5) continue;
      const auto start = static_cast<std::uint64_t>(100 * number);
      recording.step(start, start + 50, number);
    }
    run.add_rank(recording, rank, 6, "n" + std::to_string(rank));
  }
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(findings(tables, "step.missing"),
              ElementsAre("rank 5 has no steps, others have steps 10-29", "ranks 2-3 lack steps 17-19"));
  EXPECT_THAT(findings(tables, "step.range"), ElementsAre("rank 1 begins with step 12, others with step 10",
                                                          "rank 4 ends with step 27, others with step 29"));
}

TEST(StepTable, ARankHasTheStepsOfAllItsProcesses) {
  test::RunFolder run;
  for (const std::int64_t rank : {0, 1}) {
    Stepper recording(rank, 2);
    recording.step(100, 200, 0);
    run.add_rank(recording, rank, 2, "n" + std::to_string(rank));
  }
  Stepper child(1, 2);
  child.set_file_id(99);
  child.set(IdentityKey::kPid, 77);
  child.write(run.path(), "rank1.n1.77.jxspool");
  EXPECT_THAT(findings(run.assemble().tables, "step.missing"), IsEmpty());
}

TEST(StepTable, MarkersInsideStepsAreCounted) {
  test::RunFolder run;
  Stepper recording;
  recording.begin(100, 0);
  recording.push(1, 0, 1, "step", 120);
  recording.pop(1, 0, 1, 140);
  recording.pop(1, 0, 0, 200);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.steps.dur_ns, ElementsAre(100));
  EXPECT_THAT(findings(tables, "step.nested"),
              ElementsAre("rank 0 on n0: 1 range with the step marker lies inside another step of the thread and is no "
                          "step"));
  EXPECT_THAT(findings(tables, "step.swallowed"), IsEmpty());
}

TEST(StepTable, AStepThatNeverEndedLosesThoseAfterIt) {
  test::RunFolder run;
  Stepper recording;
  recording.begin(100, 0);
  for (const std::uint64_t at : {200U, 300U}) {
    recording.push(1, 0, 1, "step", at);
    recording.pop(1, 0, 1, at + 50);
  }
  run.add_rank(recording, 0, 1, "n0");
  EXPECT_THAT(findings(run.assemble().tables, "step.swallowed"),
              ElementsAre("rank 0 on n0: 2 ranges with the step marker lie inside a step of the thread that never "
                          "ended, and are no steps: pop each range that is pushed, also when an error passes"));
}

TEST(StepTable, NumbersOfSeveralProcessesOfARankAreNotOneSeries) {
  test::RunFolder run;
  Stepper recording;
  for (std::int64_t step : {0, 1, 2}) {
    const auto at = static_cast<std::uint64_t>(100 + 100 * step);
    recording.step(at, at + 50, step);
  }
  run.add_rank(recording, 0, 1, "n0");
  Stepper child;
  child.step(400, 450, 2);
  child.step(500, 550, 3);
  child.set_file_id(99);
  child.set(IdentityKey::kPid, 77);
  child.write(run.path(), "rank0.n0.77.jxspool");
  EXPECT_THAT(findings(run.assemble().tables, "step.repeated"),
              ElementsAre("rank 0: 1 step number occurs in several of its processes: select by process, or give one "
                          "of them another marker"));
}

TEST(StepTable, AnEmptyTableHasItsReason) {
  const auto reason_of = [](const Recording& recording) {
    test::RunFolder run;
    run.add_rank(recording, 0, 1, "n0");
    const AssembledRun assembled = run.assemble();
    EXPECT_FALSE(assembled.is_partial);
    EXPECT_THAT(assembled.tables.steps.step, IsEmpty());
    const std::vector<std::string> reasons = findings(assembled.tables, "step.none");
    return reasons.size() == 1 ? reasons.front() : std::to_string(reasons.size()) + " reasons";
  };
  Stepper elsewhere;
  elsewhere.domain(1, "puppet");
  elsewhere.push(1, 1, 0, "step", 100);
  elsewhere.pop(1, 1, 0, 200);
  EXPECT_THAT(
      reason_of(elsewhere),
      testing::Eq(
          "no NVTX range \"step\" was begun in the default domain or in \"jaxprof\"; 1 range has that name in the "
          "domain \"puppet\": --step-marker step@puppet"));
  Stepper odd(0, 1, "st@ep@lib");
  odd.domain(1, "my dom@x");
  odd.domain(2, "my dom");
  for (std::uint32_t domain = 0; domain < 3; ++domain) {
    odd.push(1, domain, 0, "st@ep", 100 + 100 * domain);
    odd.pop(1, domain, 0, 150 + 100 * domain);
  }
  EXPECT_THAT(reason_of(odd), HasSubstr("in the default domain: --step-marker 'st@ep@*';"));
  EXPECT_THAT(reason_of(odd), HasSubstr("in the domain \"my dom@x\": --step-marker 'st@ep@*'"));
  EXPECT_THAT(reason_of(odd), HasSubstr("in the domain \"my dom\": --step-marker 'st@ep@my dom'"));
  EXPECT_THAT(reason_of(Stepper(0, 1, "epoch@lib")),
              HasSubstr("no NVTX range \"epoch\" was begun in the domain \"lib\"; mark each step of the program with"));
  EXPECT_EQ(reason_of(Stepper(0, 1, "none")), "0 reasons") << "the marker says it";
  Stepper modules(0, 1, "xla:jit_step");
  modules.domain(1, "TSL");
  for (const std::uint64_t at : {100U, 200U, 300U}) {
    modules.push(1, 1, 0, at == 300 ? "XlaModule:#hlo_module=jit_f,program_id=1#" : "XlaModule:#hlo_module=jit_g#", at);
    modules.pop(1, 1, 0, at + 10);
  }
  EXPECT_THAT(reason_of(modules),
              HasSubstr("the XLA module \"jit_step\" was not seen to execute; others were: jit_g (2 times), jit_f (1 "
                        "time); name the one"));
  EXPECT_THAT(reason_of(Stepper(0, 1, "xla:jit_step")), HasSubstr("nor was any other: XLA marks them on GPUs"));
}

TEST(StepTable, SpoolsThatDoNotTellTheirMarkerSayNothingOfSteps) {
  test::RunFolder run;
  Recording recording;
  recording.push(1, 0, 0, "step", 100);
  recording.pop(1, 0, 0, 200);
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_EQ(tables.attributes.step_marker, "");
  EXPECT_THAT(tables.steps.step, IsEmpty());
  EXPECT_THAT(codes(tables), IsEmpty());
}

TEST(StepTable, ExecutionsOfAModuleCountByThread) {
  test::RunFolder run;
  Stepper recording(0, 1, "xla:jit_step");
  recording.domain(1, "TSL");
  for (std::uint64_t n = 0; n < 3; ++n) {
    for (const std::uint32_t thread : {1U, 2U}) {  // two devices at once
      const std::string title = "XlaModule:#hlo_module=jit_step,program_id=" + std::to_string(n / 2) + "#";
      recording.event(thread, EventKind::kNvtxPush, recording.string(title), 100 * n + thread,
                      {spool::pack(spool::NvtxContext{1, 0, 0}), 0, 0, 0, 1 + n});
      recording.pop(thread, 1, 0, 100 * n + 90 + thread);
    }
  }
  run.add_rank(recording, 0, 1, "n0");
  const runfile::RunTables tables = run.assemble().tables;
  EXPECT_THAT(tables.steps.step, ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(tables.steps.source, testing::Each(StepSource::kXlaModule));
  EXPECT_THAT(codes(tables), IsEmpty());
}

}  // namespace
}  // namespace jaxprof::assembly

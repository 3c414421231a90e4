// What the merge says of windows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/assembly/run_sources.h"
#include "merge/assembly/window_findings.h"
#include "merge/assembly/windows.h"
#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using spool::IdentityKey;
using spool::WindowCause;
using test::codes;
using test::findings;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Windowed : public Recording {
 public:
  Windowed(std::int64_t rank, const std::string& range, std::int64_t delay_ns = 0, std::int64_t duration_ns = 0)
      : Recording(rank, 4, "n" + std::to_string(rank)) {
    set(IdentityKey::kStepMarker, "step");
    set(IdentityKey::kCaptureRange, range);
    set(IdentityKey::kCaptureRangeEnd, "stop");
    set(IdentityKey::kWindowDelayNs, delay_ns);
    set(IdentityKey::kWindowDurationNs, duration_ns);
  }
  // Step `number` from `start`, which takes 10.
  void step(std::uint64_t number, std::uint64_t start) {
    event(1, spool::EventKind::kNvtxPush, string("step"), start,
          {spool::pack(spool::NvtxContext{}), 0, 0, 0, number + 1});
    pop(1, 0, 0, start + 10);
  }
};

runfile::RunTables merged(const std::vector<Windowed>& ranks) {
  test::RunFolder run;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    Windowed rank = ranks[i];
    rank.set(IdentityKey::kWorldSize, static_cast<std::int64_t>(ranks.size()));
    run.add_rank(rank, static_cast<std::int64_t>(i), static_cast<std::int64_t>(ranks.size()), "n" + std::to_string(i));
  }
  return run.assemble().tables;
}

Windowed of_steps(std::int64_t rank, std::uint64_t first) {
  Windowed window(rank, "steps:2-3");
  window.segment(0, true, WindowCause::kStep, 1000, first + 1);
  for (std::uint64_t i = 0; i < 2; ++i) window.step(first + i, 1010 + 20 * i);
  window.segment(0, false, WindowCause::kStep, 1100, first + 2);
  return window;
}

TEST(WindowFindings, WindowsOfTheSameStepsAreNoFinding) {
  const runfile::RunTables run = merged({of_steps(0, 2), of_steps(1, 2)});
  EXPECT_THAT(codes(run), IsEmpty());
  EXPECT_EQ(run.attributes.window, "--capture-range steps:2-3 --capture-range-end stop");
}

TEST(WindowFindings, NamesTheRanksThatOpenedAtAnotherStep) {
  const runfile::RunTables run = merged({of_steps(0, 2), of_steps(1, 2), of_steps(2, 3)});
  EXPECT_THAT(findings(run, "window.mixed-steps"), ElementsAre(HasSubstr("at step 2 on ranks 0-1, 3 on rank 2")));
}

TEST(WindowFindings, AWindowThatNeverOpenedIsSaidAndItsStepsAreNotMissed) {
  const runfile::RunTables run = merged({of_steps(0, 2), Windowed(1, "steps:2-3")});
  EXPECT_THAT(findings(run, "window.never-opened"),
              ElementsAre(HasSubstr("rank 1 on n1: its window (--capture-range steps:2-3")));
  EXPECT_THAT(findings(run, "step.missing"), IsEmpty());
  EXPECT_THAT(run.segments.process, ElementsAre(0u));
}

TEST(WindowFindings, WhyThereAreNoStepsTellsOfTheWindow) {
  const std::string window = "(--capture-range steps:2-3 --capture-range-end stop)";
  EXPECT_THAT(findings(merged({Windowed(0, "steps:2-3")}), "step.none"),
              ElementsAre("no step is recorded, as the window " + window +
                          " never opened; a step is an NVTX range \"step\" in the default domain or in \"jaxprof\": "
                          "--step-marker NAME@DOMAIN names one of another domain, NAME@* of any"));
  Windowed without(0, "nvtx:train");
  without.segment(0, true, WindowCause::kRange, 1000);
  without.segment(0, false, WindowCause::kRange, 1100);
  EXPECT_THAT(findings(merged({without}), "step.none"),
              ElementsAre(HasSubstr("\"jaxprof\" while the window (--capture-range nvtx:train --capture-range-end "
                                    "stop) was open; mark each step")));
}

TEST(WindowFindings, AWindowThatWasOpenAtTheEndIsSaid) {
  Windowed range(0, "nvtx:train");
  range.segment(0, true, WindowCause::kRange, 1000);
  range.segment(0, false, WindowCause::kExit, 2000);
  Windowed killed(1, "nvtx:train");
  killed.segment(0, true, WindowCause::kRange, 1000);
  const runfile::RunTables run = merged({range, killed});
  EXPECT_THAT(findings(run, "window.open-at-exit"),
              ElementsAre(HasSubstr("rank 0"), HasSubstr("was never closed: it was killed")));
  EXPECT_EQ(run.segments.close_ns[1], runfile::kNoTime);
}

TEST(WindowFindings, ADelayWithoutAnEndMayBeOpenAtTheEnd) {
  Windowed delayed(0, "none", 1'000'000'000);
  delayed.set(IdentityKey::kStepMarker, "none");
  delayed.segment(0, true, WindowCause::kDelay, 1000);
  delayed.segment(0, false, WindowCause::kExit, 2000);
  EXPECT_THAT(codes(merged({delayed})), IsEmpty());
}

TEST(WindowFindings, WindowsOfTheProfilersCallsAreComparedByTheirFirstSteps) {
  const auto rank = [](std::int64_t number, std::uint64_t first, int openings) {
    Windowed window(number, "cudaProfilerApi");
    for (int i = 0; i < openings; ++i) {
      const std::uint64_t at = 1000 + 1000 * static_cast<std::uint64_t>(i);
      window.segment(static_cast<std::uint32_t>(i), true, WindowCause::kProfiler, at);
      window.step(first + 10 * static_cast<std::uint64_t>(i), at + 10);
      window.segment(static_cast<std::uint32_t>(i), false, WindowCause::kProfiler, at + 100);
    }
    return window;
  };
  const runfile::RunTables run = merged({rank(0, 5, 2), rank(1, 5, 2), rank(2, 5, 1)});
  EXPECT_THAT(findings(run, "window.mixed-steps"), IsEmpty());
  EXPECT_THAT(findings(run, "window.mixed-counts"), ElementsAre(HasSubstr("2 on ranks 0-1, 1 on rank 2 times")));
  EXPECT_THAT(findings(merged({rank(0, 5, 1), rank(1, 6, 1)}), "window.mixed-steps"),
              ElementsAre(HasSubstr("at step 5 on rank 0, 6 on rank 1")));
}

Windowed delayed_rank(std::int64_t number, std::uint64_t at) {
  Windowed window(number, "none", 1'000'000'000);
  window.set(IdentityKey::kStepMarker, "none");
  window.segment(0, true, WindowCause::kDelay, at);
  return window;
}

TEST(WindowFindings, BetweenNodesAWindowIsLateBeyondTheClocksBound) {
  test::RunFolder folder;
  for (const std::int64_t i : {0, 1}) {
    folder.add_rank(delayed_rank(i, i == 0 ? 1000 : 8'001'000), i, 2, "n" + std::to_string(i));
  }
  const RunSources sources = open_sources(rundir::read_run_directory(folder.path())->runs.at(0));
  std::vector<std::vector<Segment>> segments;
  for (const SourceProcess& process : sources.processes) segments.push_back(segments_of(process.trace, *process.clock));
  const auto late = [&](double bound_ns) {
    Diagnostics diagnostics;
    diagnose_windows(sources, segments, bound_ns, &diagnostics);
    runfile::RunTables run;
    write_findings(diagnostics, &run);
    return findings(run, "window.late");
  };
  EXPECT_THAT(late(2.9e6), ElementsAre(testing::EndsWith("opened within 8.0 ms, rank 1 on n1 last")));
  EXPECT_THAT(late(3.1e6), IsEmpty()) << "5 ms late, and the clocks may be 3.1 ms apart";
}

TEST(WindowFindings, SaysWhichRanksTimeWindowOpenedLate) {
  const auto rank = delayed_rank;
  EXPECT_THAT(codes(merged({rank(0, 1000), rank(1, 4'000'000)})), IsEmpty());
  EXPECT_THAT(codes(merged({rank(0, 1000), rank(1, 8'001'000)})), IsEmpty()) << "two clocks without a bound";
  test::RunFolder one_node;
  for (std::int64_t i : {0, 1}) {
    Windowed late = rank(i, i == 0 ? 1000 : 8'001'000);
    late.set(IdentityKey::kWorldSize, std::int64_t{2});
    late.set(IdentityKey::kHost, "n0");
    late.set(IdentityKey::kBootId, "n0-boot");
    one_node.add_rank(late, i, 2, "n0");
  }
  EXPECT_THAT(findings(one_node.assemble().tables, "window.late"),
              ElementsAre(testing::EndsWith("opened within 8.0 ms, rank 1 on n0 last")));
}

TEST(WindowFindings, StepsBetweenTwoSegmentsAreNotMissing) {
  const auto rank = [](std::int64_t number, std::uint64_t last) {
    Windowed window(number, "none", 1'000'000'000);
    window.segment(0, true, WindowCause::kDelay, 1000);
    for (std::uint64_t step = 1; step <= last; ++step) window.step(step, 1000 + 20 * step);
    window.segment(0, false, WindowCause::kDuration, 1200);
    window.segment(1, true, WindowCause::kDelay, 2000);
    for (std::uint64_t step = 20; step < 23; ++step) window.step(step, 2000 + 20 * (step - 19));
    return window;
  };
  EXPECT_THAT(findings(merged({rank(0, 3), rank(1, 4)}), "step.missing"), IsEmpty());
}

}  // namespace
}  // namespace jaxprof::assembly

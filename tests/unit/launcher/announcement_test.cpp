#include "launcher/announcement.h"

#include <gtest/gtest.h>

#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

const Node kNode{"n1", "boot", 500, 0};

std::string line_for(const std::vector<std::string>& arguments, const test::Environment& environment) {
  const auto options = parse_options(arguments, nullptr);
  EXPECT_TRUE(options) << options.error().message;
  return first_line(*options, make_launch_plan(*options, kNode, environment.env()), environment.env());
}

// 8 tasks on 3 nodes: 4, 2 and 2.
const test::Environment& slurm() {
  static const test::Environment environment{
      "SLURM_JOB_ID=5",  "SLURM_STEP_ID=0", "SLURM_PROCID=0",     "SLURM_STEP_NUM_TASKS=8",
      "SLURM_LOCALID=0", "SLURM_NODEID=0",  "SLURM_TASK_PID=500", "SLURM_STEP_TASKS_PER_NODE=4,2(x2)"};
  return environment;
}

TEST(FirstLine, CountsWhatCanBeCounted) {
  EXPECT_EQ(line_for({"c"}, slurm()), "8 of 8 ranks traced, output jaxprof.5.0/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--ranks", "0,4-7", "c"}, slurm()), "5 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--sample-ranks", "3", "c"}, slurm()), "3 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--if", "rank%4==1", "c"}, slurm()), "2 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--local-ranks", "0,2", "c"}, slurm()), "4 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--nodes", "0,2", "c"}, slurm()), "6 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--if", "SLURM_LOCALID==0 && SLURM_NODEID%2==0", "c"}, slurm()),
            "2 of 8 ranks traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--if", "SLURM_PROCID>5", "c"}, slurm()), "2 of 8 ranks traced, output p/");
}

TEST(FirstLine, SaysWhichNumbersNobodyHas) {
  EXPECT_EQ(line_for({"-o", "p/%r", "--ranks", "0,99", "c"}, slurm()),
            "1 of 8 ranks traced, output p/; --ranks names 99, the job has 0 to 7");
}

TEST(FirstLine, SaysWhenTheWindowOpens) {
  EXPECT_EQ(line_for({"-o", "p/%r", "-c", "steps:200-240", "c"}, slurm()),
            "8 of 8 ranks traced, output p/, window opens at step 200");
}

TEST(FirstLine, SaysWhatIsKnownWhereItCannotCount) {
  EXPECT_EQ(line_for({"-o", "p/%r", "--ranks", "0-3", "--local-ranks", "0", "c"}, slurm()),
            "of 8 ranks, those of --ranks 0-3 --local-ranks 0 are traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "--if", "MY_FLAG==1", "c"}, slurm()),
            "of 8 ranks, those of --if MY_FLAG==1 are traced, output p/");
  EXPECT_EQ(line_for({"-o", "p/%r", "torchrun", "x.py"}, slurm()),
            "ranks started by torchrun decide for themselves (all), output p/");
  const test::Environment nothing{};
  EXPECT_EQ(line_for({"-o", "p/x", "c"}, nothing),
            "one process traced, no launcher that numbers ranks was found, output p/");
  const test::Environment lone{"PMIX_RANK=0"};
  EXPECT_EQ(line_for({"-o", "p/%r", "c"}, lone), "ranks traced: all; their number is not known, output p/");
}

TEST(LastLine, AddsUpWhatTheTasksTell) {
  TaskEnd first, second;
  first.task = "rank0";
  first.pid = 10;
  first.processes = {{0, 10, 0, "ended", "rank0.jxspool", "", "", 41'000, 0, 1'000'000},
                     {1, 11, 0, "ended", "rank0.n1.11.jxspool", "", "", 200, 3, 200'000}};
  second.task = "rank1";
  second.processes = {{0, 12, 1, "cut", "", "/tmp/x", "disk full", 10, 0, 0}};
  EXPECT_EQ(last_line({first, second}, 2, "p"),
            "1 of 2 ranks written, 41 210 events, 3 dropped; p/ (1.2 MB); 1 spool left on their nodes");
  EXPECT_EQ(last_line({first}, std::nullopt, "p"), "1 rank written, 41 200 events, 3 dropped; p/ (1.2 MB)");
  TaskEnd silent;
  silent.pid = 13;
  silent.notes = {"2 processes were strangers"};
  EXPECT_EQ(last_line({silent}, 1, "p"),
            "0 of 1 ranks written, 0 events, 0 dropped; p/ (0 B); 2 processes were strangers");
  silent.notes.clear();
  EXPECT_EQ(last_line({silent}, 1, "p"),
            "0 of 1 ranks written, 0 events, 0 dropped; p/ (0 B); no process was recorded");
}

TEST(LastLine, CountsAsRanksOnlyWhatSaidItsRank) {
  TaskEnd end;
  end.pid = 10;
  end.processes = {{0, 10, -1, "ended", "a.jxspool", "", "", 1, 0, 10},
                   {1, 11, -1, "ended", "b.jxspool", "", "", 1, 0, 10}};
  EXPECT_EQ(last_line({end}, std::nullopt, "p"), "2 processes written, 2 events, 0 dropped; p/ (20 B)");
  end.processes.push_back({2, 12, 0, "ended", "c.jxspool", "", "", 1, 0, 10});
  EXPECT_EQ(last_line({end}, std::nullopt, "p"),
            "1 rank and 2 processes without a rank written, 3 events, 0 dropped; p/ (30 B)");
  EXPECT_EQ(last_line({end}, 4, "p"),
            "1 of 4 ranks and 2 processes without a rank written, 3 events, 0 dropped; p/ (30 B)");
}

TEST(LastLine, NeverCountsMoreRanksThanItSaysThereAre) {
  TaskEnd end;
  end.pid = 10;
  end.processes = {{0, 10, 0, "ended", "a.jxspool", "", "", 1, 0, 10},
                   {1, 11, 1, "ended", "b.jxspool", "", "", 1, 0, 10}};
  EXPECT_EQ(last_line({end}, 1, "p"), "2 ranks written, 2 events, 0 dropped; p/ (20 B)");
}

TEST(LastLine, SaysWhoseGpusAreMissing) {
  TaskEnd end;
  end.pid = 10;
  end.processes = {{0, 10, 0, "ended", "a.jxspool", "", "", 1, 0, 10}};
  end.processes[0].gpu_fault = "no libcupti";
  EXPECT_EQ(
      last_line({end}, 1, "p"),
      "1 of 1 ranks written, 1 events, 0 dropped; p/ (10 B); GPU records are missing on 1 of 1 process: no libcupti");
}

TEST(LastLine, DoesNotBlameACommandThatNeverStarted) {
  EXPECT_EQ(last_line({TaskEnd()}, 1, "p"),
            "0 of 1 ranks written, 0 events, 0 dropped; p/ (0 B); the command could not be started");
}

TEST(Grouped, SetsABlankBeforeEachThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(1234567), "1 234 567");
  EXPECT_EQ(grouped(-123), "-123");
}

TEST(ReadableBytes, HasAUnit) {
  EXPECT_EQ(readable_bytes(999), "999 B");
  EXPECT_EQ(readable_bytes(1234), "1.2 kB");
  EXPECT_EQ(readable_bytes(999'999), "1.0 MB");
  EXPECT_EQ(readable_bytes(612'000'000'000), "612.0 GB");
}

}  // namespace
}  // namespace jaxprof::launcher

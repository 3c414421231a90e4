// The program as a whole, against what a job may expect: to be run as if it were not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tests/unit/launcher/jaxprof_exec_case.h"

namespace jaxprof::launcher {
namespace {

using test::Outcome;
using test::ProgramRun;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST_F(JaxprofExec, EndsWithTheJobsExitCode) {
  for (const int code : {0, 7, 255}) {
    EXPECT_EQ(run_shell("exit " + std::to_string(code)).exit_code, code);
  }
}

TEST_F(JaxprofExec, DiesOfTheSignalThatTheJobDiedOf) {
  EXPECT_EQ(run_shell("kill -KILL $$").signal, SIGKILL);
  EXPECT_EQ(run_shell("kill -SEGV $$").signal, SIGSEGV);
  EXPECT_EQ(run_shell("kill -TERM $$").signal, SIGTERM);
}

TEST_F(JaxprofExec, KeepsTheStatusWhereChildrenAreIgnored) {
  EXPECT_EQ(run({"-o", "prof/rank%r", "sh", "-c", "exit 7"}, "", true).exit_code, 7);
}

TEST_F(JaxprofExec, ACommandThatCannotBeStartedEndsAsInAShell) {
  const Outcome missing = run({"-o", "prof/rank%r", "no-such-command"});
  EXPECT_EQ(missing.exit_code, 127);
  EXPECT_THAT(missing.err, HasSubstr("no-such-command: No such file or directory"));
  EXPECT_THAT(missing.err, HasSubstr("; the command could not be started\n"));
  EXPECT_THAT(missing.err, Not(HasSubstr("NVTX")));
  EXPECT_EQ(run({"-o", "prof/rank%r", "/etc/passwd"}).exit_code, 126);
  be_rank(1, 2);
  EXPECT_EQ(run({"--ranks", "0", "no-such-command"}).exit_code, 127);
}

TEST_F(JaxprofExec, AnUnselectedTaskIsTheCommandItself) {
  be_rank(1, 4);
  set("ODD", "a=b c\td");
  std::string expected;
  for (const std::string& entry : environment_) expected += entry + '\0';
  const Outcome environment = run({"-o", "prof/rank%r", "--ranks", "0", "cat", "/proc/self/environ"});
  EXPECT_EQ(environment.out, expected);
  EXPECT_EQ(environment.err, "");
  const Outcome pid = run({"-o", "prof/rank%r", "--ranks", "0", "sh", "-c", "echo $$"});
  EXPECT_EQ(pid.out, std::to_string(pid.pid) + "\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("prof")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("spool")));
}

TEST_F(JaxprofExec, TheJobGetsFourVariablesMore) {
  const Outcome outcome = run({"-o", "prof/rank%r", "cat", "/proc/self/environ"});
  std::string expected;
  for (const std::string& entry : environment_) expected += entry + '\0';
  EXPECT_EQ(outcome.out.substr(0, expected.size()), expected);
  const std::string added = outcome.out.substr(expected.size());
  EXPECT_EQ(std::count(added.begin(), added.end(), '\0'), 4);
  EXPECT_THAT(added, HasSubstr("JAXPROF_SESSION=" + folder_.file("spool/")));
}

TEST_F(JaxprofExec, TheJobGetsTheVariablesOfTheCommandLineTracedOrNot) {
  be_rank(1, 4);
  for (const char* ranks : {"0", "1"}) {
    EXPECT_EQ(run({"-e", "WORDS=a,b", "--ranks", ranks, "-o", "prof/rank%r", "printenv", "WORDS"}).out, "a,b\n")
        << ranks;
  }
}

TEST_F(JaxprofExec, StdinAndProcessGroupAreTheJobs) {
  EXPECT_EQ(run({"-o", "prof/rank%r", "cat"}, "first\nsecond").out, "first\nsecond");
  const Outcome group = run({"-o", "prof/rank%r", "cut", "-d", " ", "-f5", "/proc/self/stat"});
  EXPECT_EQ(group.out, std::to_string(group.pid) + "\n");
}

TEST_F(JaxprofExec, SaysTwoLinesAndLeavesRecords) {
  be_rank(0, 1);
  const Outcome outcome = run_shell("true");
  EXPECT_EQ(outcome.err,
            "jaxprof: 1 of 1 ranks traced, output prof/\n"
            "jaxprof: 0 of 1 ranks written, 0 events, 0 dropped; prof/ (0 B); no process called NVTX, CUDA or NCCL\n");
  EXPECT_TRUE(start_record("rank0").is_profiled);
  EXPECT_EQ(end_record("rank0").exit_code, 0);
  EXPECT_THAT(end_record("rank0").notes, testing::ElementsAre("no process called NVTX, CUDA or NCCL"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("prof/rank0.jxspool.part")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("spool")));
}

TEST_F(JaxprofExec, NumbersThatNobodyHasAreSaidAndOnRecordOnce) {
  set("JAXPROF_WORLD_SIZE", "2");
  set("JAXPROF_RUN", "test");
  std::string said;
  for (int rank = 0; rank < 2; ++rank) {
    set("JAXPROF_RANK", std::to_string(rank));
    const Outcome outcome = run({"-o", "prof/rank%r", "--ranks", "0-1,99", "true"});
    EXPECT_EQ(outcome.exit_code, 0);
    said += outcome.err;
    unset("JAXPROF_RANK");
  }
  const std::string words = "--ranks names 99, the job has 0 to 1";
  EXPECT_THAT(said, testing::StartsWith("jaxprof: 2 of 2 ranks traced, output prof/; " + words + "\n"));
  EXPECT_EQ(said.find(words), said.rfind(words)) << said;
  EXPECT_THAT(end_record("rank0").notes, testing::Contains(words));
  EXPECT_THAT(end_record("rank1").notes, Not(testing::Contains(words)));
}

TEST_F(JaxprofExec, RecordsThePidOfTheCommand) {
  be_rank(0, 1);
  const Outcome outcome = run_shell("echo $$");
  EXPECT_EQ(std::to_string(end_record("rank0").pid) + "\n", outcome.out);
}

TEST_F(JaxprofExec, QuietSaysNothing) {
  set("JAXPROF_OPTIONS", "--quiet");
  EXPECT_EQ(run_shell("true").err, "");
}

TEST_F(JaxprofExec, AWrongCommandLineIsRefusedOnAllRanksAndSaidByOne) {
  const Outcome alone = run({"-o", "a%r/x", "true"});
  EXPECT_EQ(alone.exit_code, 125);
  EXPECT_THAT(alone.err, HasSubstr("a%r/x"));
  be_rank(1, 2);
  const Outcome second = run({"-o", "a%r/x", "true"});
  EXPECT_EQ(second.exit_code, 125);
  EXPECT_EQ(second.err, "");
}

TEST_F(JaxprofExec, WithoutAnAgentTheJobRunsUnchanged) {
  be_rank(2, 4);
  unset("JAXPROF_AGENT");
  set("JAXPROF_AGENT", folder_.file("none.so"));
  std::string expected;
  for (const std::string& entry : environment_) expected += entry + '\0';
  const Outcome outcome = run({"-o", "prof/rank%r", "cat", "/proc/self/environ", "/no/such/file"});
  EXPECT_EQ(outcome.exit_code, 1) << "as cat ends";
  EXPECT_EQ(outcome.out, expected);
  EXPECT_THAT(outcome.err, HasSubstr("rank 2 on "));
  EXPECT_THAT(outcome.err, HasSubstr("runs unprofiled: cannot open the agent library " + folder_.file("none.so")));
  const TaskStart start = start_record("rank2");
  EXPECT_FALSE(start.is_profiled);
  EXPECT_THAT(start.reason, HasSubstr("none.so"));
}

TEST_F(JaxprofExec, OnlyThreeUnprofiledRanksOfANodeSaySo) {
  set("NVTX_INJECTION64_PATH", "/opt/other.so");
  set("JAXPROF_WORLD_SIZE", "5");
  set("JAXPROF_RUN", "test");
  std::string said;
  for (int rank = 0; rank < 5; ++rank) {
    set("JAXPROF_RANK", std::to_string(rank));
    said += run({"-o", "prof/rank%r", "true"}).err;
    unset("JAXPROF_RANK");
  }
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = said.find("runs unprofiled", at)) != std::string::npos; ++at) ++lines;
  EXPECT_EQ(lines, 3u) << said;
  EXPECT_THAT(start_record("rank4").reason, HasSubstr("/opt/other.so"));
}

TEST_F(JaxprofExec, StrictRefusesARankThatCannotBeProfiled) {
  set("NCCL_PROFILER_PLUGIN", "/opt/CoMMA.so");
  const Outcome outcome = run({"--strict", "-o", "prof/rank%r", "echo", "ran"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("NCCL_PROFILER_PLUGIN=/opt/CoMMA.so (CoMMA) is set"));
}

TEST_F(JaxprofExec, AForeignHookIsKeptOrReplaced) {
  be_rank(0, 2);
  set("CUDA_INJECTION64_PATH", "/opt/nsight/libToolsInjection64.so");
  const Outcome kept = run_shell("echo $CUDA_INJECTION64_PATH $JAXPROF_SESSION");
  EXPECT_EQ(kept.out, "/opt/nsight/libToolsInjection64.so\n");
  EXPECT_THAT(start_record("rank0").reason, HasSubstr("(nsys)"));
  std::filesystem::remove_all(folder_.file("prof"));
  const Outcome replaced = run({"--on-conflict", "replace", "-o", "prof/rank%r", "printenv", "CUDA_INJECTION64_PATH"});
  EXPECT_THAT(replaced.out, Not(HasSubstr("nsight")));
  EXPECT_THAT(start_record("rank0").notes.at(0), HasSubstr("replaced CUDA_INJECTION64_PATH=/opt/nsight"));
}

TEST_F(JaxprofExec, ADirectoryOutOfReachCostsTheProfileOnly) {
  const Outcome outcome = run({"-o", "/proc/nowhere/rank%r", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("runs unprofiled: cannot make directory /proc/nowhere"));
}

TEST_F(JaxprofExec, ASpoolFolderOutOfReachCostsTheProfileOnly) {
  be_rank(0, 1);
  const Outcome outcome = run({"--spool", "/proc/nowhere", "-o", "prof/rank%r", "sh", "-c", "exit 7"});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(start_record("rank0").reason, HasSubstr("/proc/nowhere"));
}

TEST_F(JaxprofExec, AFullDiskCostsTheProfileOnly) {
  be_rank(0, 1);
  const std::string small = folder_.file("spool");
  if (mount("tmpfs", small.c_str(), "tmpfs", 0, "size=64k") != 0) {
    if (std::strstr(getenv("JAXPROF_REQUIRE") != nullptr ? getenv("JAXPROF_REQUIRE") : "", "mount") != nullptr) FAIL();
    GTEST_SKIP() << "cannot mount a small file system: " << std::strerror(errno);
  }
  const Outcome outcome = run_shell("exit 7");
  const bool is_empty = std::none_of(std::filesystem::directory_iterator(small), {}, [](const auto& entry) {
    return entry.path().string().find("rank0") != std::string::npos;
  });
  umount(small.c_str());
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr(small + " has 65.5 kB free of 65.5 kB"));
  EXPECT_THAT(start_record("rank0").reason, HasSubstr(small + " has 65.5 kB free of 65.5 kB"));
  EXPECT_TRUE(is_empty) << "the folder that could not be filled is gone";
}

TEST_F(JaxprofExec, DryRunTellsAndMakesNothing) {
  const Outcome outcome = run({"--dry-run", "-o", "prof/rank%r", "python", "my file.py"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("python 'my file.py'"));
  EXPECT_THAT(outcome.out, HasSubstr("+NVTX_INJECTION64_PATH="));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("prof")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("spool")));
}

TEST_F(JaxprofExec, RecordsTheVariablesThatTheCommandGets) {
  for (const char* name : {"NCCL_ALGO", "NCCL_API_KEY", "MYAPP_MODE", "OTHER"}) set(name, "hunter2");
  be_rank(0, 1);
  const std::vector<std::string> words = {"-o",          "prof/rank%r", "-e",  "NCCL_DEBUG=WARN",
                                          "--env-allow", "MYAPP_*",     "true"};
  std::vector<std::string> dry_run = {"--dry-run"};
  dry_run.insert(dry_run.end(), words.begin(), words.end());
  const std::string told = run(dry_run).out;
  EXPECT_THAT(told, HasSubstr("variable     NCCL_DEBUG=WARN\n"));
  EXPECT_THAT(told, HasSubstr("withheld     NCCL_API_KEY: its name looks like a secret's\n"));
  EXPECT_EQ(run(words).exit_code, 0);
  const TaskStart start = start_record("rank0");
  EXPECT_TRUE(start.has_environment);
  EXPECT_EQ(start.environment.at("NCCL_ALGO"), "hunter2");
  EXPECT_EQ(start.environment.at("NCCL_DEBUG"), "WARN");
  EXPECT_EQ(start.environment.at("MYAPP_MODE"), "hunter2");
  EXPECT_THAT(start.environment.at("NVTX_INJECTION64_PATH"), EndsWith("/bin/true")) << "as the command gets it";
  EXPECT_EQ(start.environment.count("NCCL_API_KEY") + start.environment.count("OTHER"), 0u);
}

TEST_F(JaxprofExec, RecordsTheVariablesOfARankThatRunsUnprofiled) {
  set("NVTX_INJECTION64_PATH", "/opt/other.so");
  be_rank(0, 1);
  EXPECT_EQ(run({"-o", "prof/rank%r", "true"}).exit_code, 0);
  EXPECT_FALSE(start_record("rank0").is_profiled);
  EXPECT_EQ(start_record("rank0").environment.at("NVTX_INJECTION64_PATH"), "/opt/other.so");
}

TEST_F(JaxprofExec, RecordsNoVariablesWhereNobodyWantsIt) {
  set("NCCL_ALGO", "Ring");
  be_rank(0, 1);
  EXPECT_EQ(run({"--env", "off", "-o", "prof/rank%r", "true"}).exit_code, 0);
  EXPECT_FALSE(start_record("rank0").has_environment);
  EXPECT_TRUE(start_record("rank0").environment.empty());
  EXPECT_THAT(run({"--env", "off", "--dry-run", "true"}).out,
              HasSubstr("variables    none are recorded (--env off)\n"));
}

TEST_F(JaxprofExec, CheckNamesTheVariablesForWhoChoosesThem) {
  set("MYAPP_MODE", "fast");
  set("MYAPP_TOKEN", "hunter2");
  be_rank(0, 1);
  const std::string told = run({"--check", "-o", "prof/rank%r", "--env-allow", "MYAPP_*", "true"}).out;
  EXPECT_THAT(told, HasSubstr("variables that are recorded: MYAPP_MODE\n"));
  EXPECT_THAT(told, HasSubstr("the variable MYAPP_TOKEN is not recorded: its name looks like a secret's\n"));
  EXPECT_THAT(told, Not(HasSubstr("hunter2")));
}

TEST_F(JaxprofExec, TellsWhatBecomesOfClocks) {
  be_rank(0, 2);
  EXPECT_THAT(run({"--dry-run", "-o", "prof/rank%r", "--clock-port", "40000-40009", "true"}).out,
              HasSubstr("clocks       compared with other nodes', UDP ports 40000-40009\n"));
  EXPECT_THAT(run({"--dry-run", "-o", "prof/rank%r", "--clock=off", "true"}).out,
              HasSubstr("clocks       not read: nodes are aligned by their wall clocks (--clock off)\n"));
  EXPECT_THAT(run({"--dry-run", "-o", "prof/rank%r", "--clock=off", "-t", "nvtx", "true"}).out,
              Not(HasSubstr("observer")));
}

TEST_F(JaxprofExec, CheckTellsOfClocksThatAreNotReadAsUsual) {
  be_rank(0, 1);
  EXPECT_THAT(run({"--check", "-o", "prof/rank%r", "--clock=off", "true"}).out,
              HasSubstr("clocks: not read: nodes are aligned by their wall clocks (--clock off)\n"));
  EXPECT_THAT(run({"--check", "-o", "prof/rank%r", "true"}).out, Not(HasSubstr("clocks:")));
}

TEST_F(JaxprofExec, TheNodeOfRank0IsMarkedForItsObserver) {
  set("JAXPROF_NETSAMPLER", "/bin/true");
  const std::string list = "ls \"$JAXPROF_TMPDIR\"/*.node";
  be_rank(1, 2);
  EXPECT_THAT(run_shell(list).out, Not(HasSubstr("rank0")));
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "0");
  EXPECT_THAT(run_shell(list).out, HasSubstr("rank0\n"));
}

TEST_F(JaxprofExec, CheckOfManyRanksIsOneTableAndLeavesNothing) {
  set("JAXPROF_WORLD_SIZE", "4");
  set("JAXPROF_RUN", "test");
  std::vector<std::unique_ptr<ProgramRun>> ranks;
  for (int rank = 3; rank >= 0; --rank) {
    auto environment = environment_;
    environment.push_back("JAXPROF_RANK=" + std::to_string(rank));
    if (rank == 2) environment.push_back("NVTX_INJECTION64_PATH=/opt/other.so");
    ranks.push_back(std::make_unique<ProgramRun>(
        folder_.path(), std::vector<std::string>{"--check", "-o", "prof/rank%r", "true"}, environment));
  }
  std::string out, err;
  for (auto& rank : ranks) {
    const Outcome outcome = rank->wait();
    out += outcome.out;
    err += outcome.err;
    if (rank == ranks.back()) {
      EXPECT_EQ(outcome.exit_code, 6);
    }
  }
  EXPECT_EQ(err, "");
  EXPECT_THAT(out, HasSubstr("jaxprof check: 3 of 4 ranks ready, output prof/\n"));
  EXPECT_THAT(out, HasSubstr("fault   2 "));
  EXPECT_THAT(out, HasSubstr("NVTX_INJECTION64_PATH=/opt/other.so is set"));
  EXPECT_THAT(out, HasSubstr("records to " + folder_.file("spool") + " ("));
  EXPECT_THAT(out, HasSubstr(" free of "));
  EXPECT_THAT(out, HasSubstr("), at most 4.3 GB\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("prof")));
}

}  // namespace
}  // namespace jaxprof::launcher

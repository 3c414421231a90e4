// The program as a whole, against what a job may expect: to be run as if it were not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/base/unique_fd.h"
#include "agent/contract/run_layout.h"
#include "agent/contract/task_record.h"
#include "tests/unit/launcher/program_run.h"

namespace jaxprof::launcher {
namespace {

using test::Outcome;
using test::ProgramRun;
using test::Streams;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class JaxprofExec : public testing::Test {
 protected:
  JaxprofExec() {
    std::filesystem::create_directories(folder_.file("spool"));
    set("PATH", "/usr/bin:/bin");
    set("JAXPROF_TMPDIR", folder_.file("spool"));
    set("JAXPROF_AGENT", "/bin/true");  // any shared object does, where nothing calls NVTX
  }

  void set(const std::string& name, const std::string& value) { environment_.push_back(name + "=" + value); }
  void unset(const std::string& name) {
    std::erase_if(environment_, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  }
  void be_rank(int rank, int world_size) {
    set("JAXPROF_RANK", std::to_string(rank));
    set("JAXPROF_WORLD_SIZE", std::to_string(world_size));
    set("JAXPROF_RUN", "test");
  }
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = "", bool ignores_children = false) {
    return ProgramRun(folder_.path(), arguments, environment_, input, ignores_children).wait();
  }
  // What a job that is one line of shell does.
  Outcome run_shell(const std::string& line) { return run({"-o", "prof/rank%r", "sh", "-c", line}); }

  std::string state() const { return folder_.file("prof/.run-local.test.0"); }
  TaskStart start_record(const std::string& task) {
    auto text = read_small_file(run_layout::task_start_path(state(), task));
    auto record = text ? parse_task_start(*text) : fail(text.error().code, text.error().message);
    EXPECT_TRUE(record) << record.error().message;
    return record.value_or(TaskStart());
  }
  TaskEnd end_record(const std::string& task) {
    auto text = read_small_file(run_layout::task_end_path(state(), task));
    auto record = text ? parse_task_end(*text) : fail(text.error().code, text.error().message);
    EXPECT_TRUE(record) << record.error().message;
    return record.value_or(TaskEnd());
  }
  std::size_t files_in(const char* name) const {
    std::size_t count = 0;
    if (!std::filesystem::exists(folder_.file(name))) return 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file(name))) {
      count += entry.is_regular_file() ? 1 : 0;
    }
    return count;
  }

  test::TempFolder folder_;
  std::vector<std::string> environment_;
};

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

TEST_F(JaxprofExec, ATakenNameIsNotedAndLeftAlone) {
  be_rank(0, 1);
  std::filesystem::create_directories(folder_.file("prof"));
  std::ofstream(folder_.file("prof/rank0.jxspool")) << "theirs";
  const Outcome outcome = run_shell("true");
  EXPECT_THAT(outcome.err, HasSubstr("prof/rank0.jxspool is taken, this rank writes to rank0.HOST.PID.jxspool"));
  EXPECT_TRUE(start_record("rank0").is_profiled);
  EXPECT_THAT(start_record("rank0").notes.at(0), HasSubstr("is taken"));
  EXPECT_EQ(*read_small_file(folder_.file("prof/rank0.jxspool")), "theirs");
}

TEST_F(JaxprofExec, RanksOfOneRunThatCollideAreToldWhatToDo) {
  be_rank(0, 3);
  EXPECT_THAT(run({"-o", "prof/same", "true"}).err, Not(HasSubstr("is taken")));
  std::ofstream(folder_.file("prof/same.jxspool")) << "rank 0's";
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "1");
  EXPECT_THAT(run({"-f", "-o", "prof/same", "true"}).err,
              AllOf(HasSubstr("same.jxspool is taken, "), HasSubstr("; put %r into the name")));
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "2");
  const std::vector<std::string> third = {"-f", "-o", "prof/%q{NONE:-same}", "true"};
  EXPECT_THAT(run(third).err, Not(HasSubstr("is taken"))) << "one line for all";
  std::filesystem::remove(state() + "/said.taken");
  EXPECT_THAT(run(third).err, HasSubstr("; put %r into the name"));
}

TEST_F(JaxprofExec, ANameThatIsClaimedButNotWrittenToIsNotSaidToBeAFileOfOld) {
  be_rank(0, 1);
  std::filesystem::create_directories(folder_.file("prof"));
  std::ofstream(folder_.file("prof/rank0.jxspool.part")).flush();
  EXPECT_THAT(run_shell("true").err, HasSubstr("; another task has claimed it just now, or one that was killed"));
}

TEST_F(JaxprofExec, TasksOfOneRankSayTheFirstLineOnceAndWhatToldTheRank) {
  be_rank(0, 3);
  const std::vector<std::string> arguments = {
      "-o", "prof/rank%r", "sh", "-c", "echo up >up.$$; while [ $(ls | grep -c '^up') -lt 3 ]; do sleep 0.01; done"};
  std::vector<std::unique_ptr<ProgramRun>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(std::make_unique<ProgramRun>(folder_.path(), arguments, environment_));
  }
  std::string err;
  for (auto& task : tasks) err += task->wait().err;
  const auto count = [&err](const std::string& text) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = err.find(text, at)) != std::string::npos; at += text.size()) ++times;
    return times;
  };
  EXPECT_EQ(count("3 of 3 ranks traced"), 1u) << err;
  EXPECT_EQ(count("two tasks of the run take themselves for rank 0, by JAXPROF_RANK: "), 1u) << err;
  EXPECT_EQ(count("put %r"), 0u) << err;
}

TEST_F(JaxprofExec, ARunOfTheSameNameAsAnEarlierOneSpeaksToo) {
  be_rank(0, 1);
  EXPECT_THAT(run_shell("true").err, HasSubstr("1 of 1 ranks traced"));
  const Outcome second = run_shell("true");
  EXPECT_THAT(second.err, HasSubstr("1 of 1 ranks traced"));
  EXPECT_THAT(second.err, Not(HasSubstr("two tasks")));
}

TEST_F(JaxprofExec, StrictRefusesARankThatIsInDoubtSelectedOrNot) {
  be_rank(1, 2);
  set("MYR", "x");
  for (const char* selected : {"0", "1"}) {
    const Outcome outcome =
        run({"--strict", "--rank-from", "MYR", "--ranks", selected, "-o", "prof/rank%r", "echo", "ran"});
    EXPECT_EQ(outcome.exit_code, 125) << selected;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("refuses to start (--strict): --rank-from names MYR=x: no rank"));
  }
}

TEST_F(JaxprofExec, ARankByHandThatIsNoneIsSaid) {
  set("JAXPROF_RANK", "x");
  const Outcome outcome = run_shell("exit 7");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("JAXPROF_RANK=x is not a rank"));
}

TEST_F(JaxprofExec, AnUnsetVariableIsSaidOncePerRun) {
  be_rank(0, 2);
  const std::vector<std::string> arguments = {"-o", "prof/rank%r.%q{NOT_SET}", "true"};
  EXPECT_THAT(run(arguments).err,
              HasSubstr("--output names NOT_SET, which is not set or empty: it becomes unset-NOT_SET"));
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "1");
  EXPECT_THAT(run(arguments).err, Not(HasSubstr("NOT_SET, which")));
  EXPECT_THAT(start_record("rank1").notes.at(0), HasSubstr("NOT_SET"));
}

TEST_F(JaxprofExec, ANameThatIsNoneIsSettledBeforeTheJobStarts) {
  be_rank(0, 1);
  set("DOTS", "..");
  EXPECT_THAT(run({"-o", "prof/%q{DOTS}", "true"}).err,
              HasSubstr("--output prof/%q{DOTS} gives no name for a file: it is named after its rank"));
  EXPECT_EQ(start_record("rank0").stem, "rank0");
}

TEST_F(JaxprofExec, DryRunTellsAndMakesNothing) {
  const Outcome outcome = run({"--dry-run", "-o", "prof/rank%r", "python", "my file.py"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("python 'my file.py'"));
  EXPECT_THAT(outcome.out, HasSubstr("+NVTX_INJECTION64_PATH="));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("prof")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("spool")));
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

struct Pipe {
  UniqueFd in, out;
};

Pipe make_pipe() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

TEST_F(JaxprofExec, AStderrWithoutAReaderDoesNotCostTheJob) {
  Pipe err = make_pipe();
  err.in.reset();
  be_rank(0, 1);
  const Outcome outcome = ProgramRun(folder_.path(), {"-o", "prof/rank%r", "sh", "-c", "echo ran; exit 5"},
                                     environment_, "", false, {-1, -1, err.out.get()})
                              .wait();
  EXPECT_EQ(outcome.exit_code, 5) << "signal " << outcome.signal;
  EXPECT_EQ(outcome.out, "ran\n");
  EXPECT_EQ(end_record("rank0").exit_code, 5);
}

TEST_F(JaxprofExec, AFullStderrThatNobodyReadsDoesNotHoldTheJob) {
  Pipe err = make_pipe();
  fcntl(err.out.get(), F_SETFL, O_NONBLOCK);
  while (write(err.out.get(), "x", 1) > 0) {
  }
  fcntl(err.out.get(), F_SETFL, 0);
  const Outcome outcome = ProgramRun(folder_.path(), {"-o", "prof/rank%r", "sh", "-c", "exit 5"}, environment_, "",
                                     false, {-1, -1, err.out.get()})
                              .wait();
  EXPECT_EQ(outcome.exit_code, 5);
}

TEST_F(JaxprofExec, ALimitOfFileSizesDoesNotCostTheJob) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer's own files are limited too";
#endif
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = 0;
  const Outcome outcome =
      ProgramRun(folder_.path(), {"-o", "prof/rank%r", "sh", "-c", "exit 5"}, environment_, "", false, {}, limit)
          .wait();
  EXPECT_EQ(outcome.exit_code, 5) << "signal " << outcome.signal;
}

TEST_F(JaxprofExec, ClosedStreamsStayClosedAndTakeNoFile) {
  be_rank(0, 1);
  const Outcome outcome = ProgramRun(folder_.path(),
                                     {"-o", "prof/rank%r", "sh", "-c",
                                      "for fd in 0 1 2; do test -e /proc/$$/fd/$fd && exit 9; done; exit 3"},
                                     environment_, "", false, {Streams::kClosed, Streams::kClosed, Streams::kClosed})
                              .wait();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(end_record("rank0").exit_code, 3);
}

TEST_F(JaxprofExec, TheEndOfTheJobsOutputIsTheEndOfThePipe) {
  Pipe out = make_pipe();
  ProgramRun run(folder_.path(),
                 {"--quiet", "-o", "prof/rank%r", "sh", "-c", "echo hi; exec >&- 2>&-; while :; do sleep 0.01; done"},
                 environment_, "", false, {-1, out.out.get(), -1});
  out.out.reset();
  char text[8];
  ASSERT_EQ(read(out.in.get(), text, sizeof text), 3);
  EXPECT_EQ(read(out.in.get(), text, sizeof text), 0) << "a hang here is the fault";
}

TEST_F(JaxprofExec, AnInputThatTheJobClosedHasNoReader) {
  Pipe in = make_pipe();
  ProgramRun run(folder_.path(),
                 {"--quiet", "-o", "prof/rank%r", "sh", "-c", "exec <&-; echo closed; while :; do sleep 0.01; done"},
                 environment_, "", false, {in.in.get(), -1, -1});
  in.in.reset();
  ASSERT_TRUE(run.waits_for_output("closed"));
  pollfd writer{in.out.get(), 0, 0};  // the wrapper may let go a moment after the job
  ASSERT_EQ(poll(&writer, 1, 10'000), 1);
  EXPECT_NE(writer.revents & POLLERR, 0) << "somebody still holds the reading end";
}

// A job that tells each TERM, and ends by USR1.
const std::vector<std::string> kListener = {
    "--quiet", "-o", "prof/rank%r",
    "sh",      "-c", "trap 'echo term' TERM; trap 'exit 3' USR1; echo job $$ ready; while :; do sleep 0.01; done"};

void expect_one_term(ProgramRun& run, pid_t target) {
  ASSERT_TRUE(run.waits_for_output("ready"));
  kill(target, SIGTERM);
  ASSERT_TRUE(run.waits_for_output("term"));
  // Signals are passed on in order: a second TERM would come before this.
  kill(target, SIGUSR1);
  const Outcome outcome = run.wait();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out.find("term"), outcome.out.rfind("term")) << outcome.out;
}

TEST_F(JaxprofExec, PassesOnASignalThatItGotAlone) {
  ProgramRun run(folder_.path(), kListener, environment_);
  expect_one_term(run, run.pid());
}

TEST_F(JaxprofExec, DoesNotRepeatASignalThatTheWholeGroupGot) {
  ProgramRun run(folder_.path(), kListener, environment_);
  expect_one_term(run, -run.pid());
}

TEST_F(JaxprofExec, SignalsThatComeTogetherDoNotHoldUpEachOther) {
  ProgramRun run(folder_.path(),
                 {"--quiet", "-o", "prof/rank%r", "sh", "-c",
                  "trap 'echo winch' WINCH; trap 'echo term' TERM; trap 'echo usr1' USR1; trap 'echo rt' 40;"
                  "trap 'exit 3' USR2; echo ready; while :; do sleep 0.01; done"},
                 environment_);
  ASSERT_TRUE(run.waits_for_output("ready"));
  for (int round = 0; round < 3; ++round) {
    for (const int signal : {SIGUSR1, SIGTERM, SIGWINCH, 40}) kill(run.pid(), signal);
    const timespec pause{0, 100'000'000};
    nanosleep(&pause, nullptr);
  }
  for (const char* word : {"winch", "term", "usr1", "rt"}) {
    EXPECT_TRUE(run.waits_for_output(word, 3)) << word;
  }
  kill(run.pid(), SIGUSR2);
  const Outcome outcome = run.wait();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1 + 4 * 3) << outcome.out;
}

TEST_F(JaxprofExec, AKillOfTheWrapperIsAKillOfTheJob) {
  ProgramRun run(folder_.path(), kListener, environment_);
  ASSERT_TRUE(run.waits_for_output("ready"));
  kill(run.pid(), SIGKILL);
  const Outcome outcome = run.wait();
  EXPECT_EQ(outcome.signal, SIGKILL);
  const std::string stat = "/proc/" + outcome.out.substr(4, outcome.out.find(" ready") - 4) + "/stat";
  bool is_gone = false;
  for (int i = 0; i < 2000 && !is_gone; ++i) {
    const auto text = read_small_file(stat);
    is_gone = !text || text->find(") Z ") != std::string::npos;
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
  EXPECT_TRUE(is_gone);
}

}  // namespace
}  // namespace jaxprof::launcher

// The job's streams and signals, which the wrapper stands beside and must not get into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>

#include "agent/base/unique_fd.h"
#include "tests/unit/launcher/jaxprof_exec_case.h"

namespace jaxprof::launcher {
namespace {

using test::Outcome;
using test::ProgramRun;
using test::Streams;

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

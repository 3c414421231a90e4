#include "agent/base/process_presence.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/contract/session_page.h"

namespace jaxprof {
namespace {

TEST(ProcessPresence, TellsThisProcessFromOneThatHadItsPid) {
  const std::uint64_t start = process_start_ticks(getpid());
  EXPECT_TRUE(is_process_present(getpid(), start));
  EXPECT_FALSE(is_process_present(getpid(), start + 1));
  EXPECT_FALSE(is_process_present(getpid(), 0));
  EXPECT_FALSE(is_process_present(0, start));
}

TEST(ProcessPresence, AZombieIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const std::uint64_t start = process_start_ticks(child);
  EXPECT_TRUE(is_process_present(child, start));
  kill(child, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_NE(process_start_ticks(child), 0u) << "it is still listed";
  EXPECT_FALSE(is_process_present(child, start));
  waitpid(child, nullptr, 0);
}

TEST(ProcessPresence, AProcessOfAContainerIsFoundByItsNumberThere) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWPID) != 0) _exit(77);
    const pid_t inner = fork();
    if (inner == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (write(ends[1], "x", 1) == 1) pause();
      _exit(0);
    }
    waitpid(inner, nullptr, 0);
    _exit(0);
  }
  close(ends[1]);
  char byte;
  if (read(ends[0], &byte, 1) != 1) {
    waitpid(outer, nullptr, 0);
    GTEST_SKIP() << "no pid namespaces here";
  }
  // In there it is process 1; out here that is another, which started earlier.
  EXPECT_TRUE(is_process_present(1, process_start_ticks(1) + 1));
  kill(outer, SIGKILL);
  waitpid(outer, nullptr, 0);
}

TEST(ProcessPresence, KnowsItsNamespace) {
  EXPECT_NE(own_pid_namespace(), 0u);
}

}  // namespace
}  // namespace jaxprof

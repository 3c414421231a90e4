#include "agent/base/service_thread.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include "agent/base/futex.h"

namespace jaxprof {
namespace {

constexpr std::size_t kStackBytes = 256 << 10;

// What a thread found of itself.
struct Seen {
  std::atomic<std::uint32_t> is_done{0};
  sigset_t blocked;
  int detach_state = -1;
  std::size_t stack_bytes = 0;

  void wait() {
    while (is_done.load() == 0) futex_wait(&is_done, 0, 1'000'000'000);
  }
};

void* look(void* argument) {
  auto* seen = static_cast<Seen*>(argument);
  pthread_sigmask(SIG_SETMASK, nullptr, &seen->blocked);
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getdetachstate(&attributes, &seen->detach_state);
  pthread_attr_getstacksize(&attributes, &seen->stack_bytes);
  pthread_attr_destroy(&attributes);
  seen->is_done.store(1);
  futex_wake_all(&seen->is_done);
  return nullptr;
}

TEST(ServiceThread, HasAllSignalsBlockedAndNobodyToJoinIt) {
  static Seen seen;  // the thread may still be in its wake when this returns
  ASSERT_TRUE(start_service_thread(look, &seen, kStackBytes));
  seen.wait();
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGALRM, SIGPROF, SIGCHLD, SIGRTMIN + 3}) {
    EXPECT_EQ(sigismember(&seen.blocked, signal), 1) << signal;
  }
  EXPECT_EQ(seen.detach_state, PTHREAD_CREATE_DETACHED);
  EXPECT_GE(seen.stack_bytes, kStackBytes);
}

TEST(ServiceThread, LeavesTheMaskOfItsMakerAsItWas) {
  static Seen seen;
  sigset_t given;
  sigemptyset(&given);
  sigaddset(&given, SIGUSR2);
  sigset_t original;
  pthread_sigmask(SIG_SETMASK, &given, &original);
  ASSERT_TRUE(start_service_thread(look, &seen, kStackBytes));
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &original, &after);
  seen.wait();
  EXPECT_EQ(sigismember(&after, SIGUSR2), 1);
  EXPECT_EQ(sigismember(&after, SIGTERM), 0);
}

TEST(ServiceThread, SaysWhyThereIsNone) {
  static Seen seen;
  errno = 0;
  EXPECT_FALSE(start_service_thread(look, &seen, 1));  // no stack is that small
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(seen.is_done.load(), 0U);
}

}  // namespace
}  // namespace jaxprof

#include "agent/base/futex.h"

#include <gtest/gtest.h>

#include <thread>

#include "agent/base/clocks.h"

namespace jaxprof {
namespace {

constexpr std::int64_t kLongNs = 60'000'000'000;

TEST(Futex, WaitDoesNotSleepOnAWordThatHasChanged) {
  std::atomic<std::uint32_t> word{1};
  const std::int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  futex_wait(&word, 0, kLongNs);
  EXPECT_LT(clock_ns(CLOCK_MONOTONIC) - before_ns, kLongNs);
}

TEST(Futex, WaitSleepsUntilItsTimeIsOver) {
  std::atomic<std::uint32_t> word{0};
  constexpr std::int64_t kTimeNs = 3'000'000;
  const std::int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  // It may return early; then whoever waits looks again, as all callers do.
  for (std::int64_t left_ns = kTimeNs; left_ns > 0; left_ns = kTimeNs - (clock_ns(CLOCK_MONOTONIC) - before_ns)) {
    futex_wait(&word, 0, left_ns);
  }
  EXPECT_GE(clock_ns(CLOCK_MONOTONIC) - before_ns, kTimeNs);
}

TEST(Futex, WaitWithoutTimeReturnsAtOnce) {
  std::atomic<std::uint32_t> word{0};
  futex_wait(&word, 0, 0);
  futex_wait(&word, 0, -kLongNs);
  EXPECT_EQ(word.load(), 0U);
}

TEST(Futex, WakeAllEndsTheSleepOfEverySleeper) {
  std::atomic<std::uint32_t> word{0};
  const auto sleep = [&word] {
    while (word.load() == 0) futex_wait(&word, 0, kLongNs);
  };
  const std::int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  std::thread first(sleep);
  std::thread second(sleep);
  word.store(1);
  futex_wake_all(&word);
  first.join();
  second.join();
  EXPECT_LT(clock_ns(CLOCK_MONOTONIC) - before_ns, kLongNs);
}

TEST(Futex, WakeOneEndsTheSleepOfOne) {
  std::atomic<std::uint32_t> word{0};
  const std::int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
  std::thread sleeper([&word] {
    while (word.load() == 0) futex_wait(&word, 0, kLongNs);
  });
  word.store(1);
  futex_wake_one(&word);
  sleeper.join();
  EXPECT_LT(clock_ns(CLOCK_MONOTONIC) - before_ns, kLongNs);
}

}  // namespace
}  // namespace jaxprof

// A word that threads sleep on, without pthread's condition variables: those need a lock, which a thread that is killed
// or frozen inside would keep, and newer symbols of glibc than the agent may ask for. The word is the caller's, and
// says by its value whether there is anything to wait for. Agent-safe; within one process only.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

namespace jaxprof {

// Sleeps until the word is woken, at most `timeout_ns` (0 or less: not at all), and not if it has another value than
// `seen`. Returns for other reasons too: look at the word again. Changes errno.
inline void futex_wait(std::atomic<std::uint32_t>* word, std::uint32_t seen, std::int64_t timeout_ns) noexcept {
  static_assert(sizeof *word == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
  if (timeout_ns <= 0) return;
  timespec timeout;
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

// Wakes one or all of those that sleep on the word, after its value was changed. Change errno only where `word` is no
// memory of this process.
inline void futex_wake_one(std::atomic<std::uint32_t>* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
inline void futex_wake_all(std::atomic<std::uint32_t>* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace jaxprof

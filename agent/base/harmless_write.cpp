#include "agent/base/harmless_write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"

namespace jaxprof {
namespace {

constexpr std::int64_t kPatience_ns = 100'000'000;

// Blocks what a write can send to the thread that writes, and takes back what came of it. A signal that was pending
// before is not ours to take: one more of the kind then changes nothing.
class WriteSignals {
 public:
  WriteSignals() noexcept {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTTOU);  // blocked, it lets the write pass
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      sigaddset(&blocked, signal);
      if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  WriteSignals(const WriteSignals&) = delete;
  WriteSignals& operator=(const WriteSignals&) = delete;
  ~WriteSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void take_back() const noexcept {
    const timespec at_once{0, 0};
    while (sigtimedwait(&ours_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }

 private:
  sigset_t before_;
  sigset_t ours_;
};

// A pipe's own description is shared with the job, so it cannot be made non-blocking; a second one of the same pipe
// can. It keeps the promise where several writers see the room that only one of them gets.
UniqueFd reopen_pipe(int fd) noexcept {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISFIFO(status.st_mode)) return {};
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return UniqueFd(open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
}

bool waits_for_room(int fd, std::int64_t deadline_ns) noexcept {
  for (;;) {
    const std::int64_t left_ns = std::max<std::int64_t>(deadline_ns - clock_ns(CLOCK_MONOTONIC), 0);
    pollfd ready{fd, POLLOUT, 0};
    const int found = poll(&ready, 1, static_cast<int>((left_ns + 999'999) / 1'000'000));
    if (found > 0) return (ready.revents & POLLOUT) != 0;
    if (found == 0 || errno != EINTR) return false;
  }
}

}  // namespace

bool write_harmlessly(int fd, std::string_view text) noexcept {
  const WriteSignals signals;
  const UniqueFd pipe = reopen_pipe(fd);
  const int out = pipe ? pipe.get() : fd;
  const std::int64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + kPatience_ns;
  while (!text.empty()) {
    if (!waits_for_room(out, deadline_ns)) return false;
    const ssize_t length = write(out, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (length > 0) {
      text.remove_prefix(static_cast<std::size_t>(length));
    } else if (length == 0 || (errno != EINTR && errno != EAGAIN)) {
      signals.take_back();
      return false;
    } else if (clock_ns(CLOCK_MONOTONIC) >= deadline_ns) {
      return false;
    }
  }
  return true;
}

}  // namespace jaxprof

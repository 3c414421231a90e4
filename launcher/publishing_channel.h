// What a wrapper and its publishing process say to each other, over one socket pair: that there is hurry, that the job
// has ended and how; then lines for stderr, which the wrapper alone has, and that all is done. Neither side ever waits
// for the other to read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "agent/base/unique_fd.h"
#include "launcher/supervisor.h"

namespace jaxprof::launcher {

struct EndedJob {
  JobStatus status;
  pid_t pid = 0;  // of the command; 0: it could not be started
};

// The publishing process's end. One thread at a time.
class PublishingRequests {
 public:
  explicit PublishingRequests(UniqueFd socket) : socket_(std::move(socket)) {}

  // Takes what has come. Waits for something to come, at most so long.
  void wait(std::int64_t ns);
  void look() { wait(0); }

  bool is_hurried() const { return is_hurried_; }
  const std::optional<EndedJob>& ended_job() const { return ended_job_; }

  void send_line(const std::string& line) const;
  void send_done() const;

 private:
  UniqueFd socket_;
  bool is_hurried_ = false;
  std::optional<EndedJob> ended_job_;
};

// The wrapper's end. Main thread.
class PublishingReplies {
 public:
  enum class Kind { kNothing, kLine, kDone, kGone };
  struct Reply {
    Kind kind = Kind::kNothing;
    std::string line;
  };

  explicit PublishingReplies(UniqueFd socket) : socket_(std::move(socket)) {}

  void send_hurry() const;
  void send_ended_job(const EndedJob& job) const;
  // The next reply, kNothing if none comes within `ns`; kGone if the process has ended.
  Reply wait(std::int64_t ns) const;

 private:
  UniqueFd socket_;
};

// The two ends; closed where none could be made.
std::pair<UniqueFd, UniqueFd> make_publishing_sockets();

}  // namespace jaxprof::launcher

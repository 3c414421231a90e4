// 128 ranks of a node that all copy at once are a storm on the shared storage, and take from the job what it needs of
// the network. So the tasks of a node take turns: one copies at a time, a piece each, and the next
// one begins when as much time has passed as the piece may take at the node's rate. The turn is a lock on a file that
// all of them open, which holds the time of the next one.
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {

// One task's hand in it; one thread. Where the file cannot be opened the task keeps to the rate by itself.
class PublishTurns {
 public:
  // `path`: run_layout::node_publish_path. `bytes_per_s` > 0.
  PublishTurns(const std::string& path, std::int64_t bytes_per_s);

  // 0: it is the caller's turn until end(). Else ns to wait before asking again, at most kMostWaitNs. Times are of
  // CLOCK_MONOTONIC.
  std::int64_t begin(std::int64_t now_ns);
  void end(std::uint64_t copied_bytes);

  static constexpr std::int64_t kMostWaitNs = 200'000'000;

 private:
  std::int64_t read_next_ns() const;

  UniqueFd file_;
  std::int64_t bytes_per_s_;
  std::int64_t began_ns_ = 0;
  std::int64_t next_ns_ = 0;  // what counts where there is no file
};

}  // namespace jaxprof::launcher

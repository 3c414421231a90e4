// From the thread of the clock service to the one that writes the spool, which a disk may keep waiting for minutes:
// what is measured meanwhile waits here up to a limit, and is counted and left out beyond it. Registrations, to which
// bursts refer, are kept in any case; they are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "netsampler/clock/clock_news.h"

namespace jaxprof::netsampler {

class NewsQueue {
 public:
  // A reading, or an exchange of a burst, counts one: six hours of readings, in 6 MB.
  static constexpr std::size_t kMost = 1 << 16;

  // Any thread. In the order in which they are to be written.
  void push(ClockNews news);

  struct Taken {
    std::vector<ClockNews> news;
    std::uint64_t n_lost = 0;  // readings and bursts that were left out since the last take()
  };
  // Any thread. Empties the queue.
  Taken take();

 private:
  std::mutex mutex_;
  Taken waiting_;
  std::size_t n_waiting_ = 0;
};

}  // namespace jaxprof::netsampler

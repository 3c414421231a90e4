// Is a process alive that cannot be seen, because it lives in a container with process numbers of its own? An agent
// writes an anchor every second, so the spool of a process that records has grown after two and a half.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/contract/session_page.h"

namespace jaxprof::launcher {

class GrowthWatch {
 public:
  static constexpr std::int64_t kWatchNs = 2'500'000'000;

  // Begins to watch, for so long. `page` must outlive the watch.
  explicit GrowthWatch(const SessionPage& page, std::int64_t watch_ns = kWatchNs);

  // Waits until there has been time enough to grow.
  bool has_grown(const ProcessSlot& slot) const;

 private:
  const SessionPage& page_;
  std::vector<std::uint64_t> bytes_;  // by slot
  std::int64_t end_ns_;               // CLOCK_MONOTONIC
};

}  // namespace jaxprof::launcher

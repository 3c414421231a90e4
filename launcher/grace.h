// How long a wrapper may go on after its job has ended: the grace the user gave, and two seconds once a signal asks
// the task to end, because the batch system will soon kill it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {

class Grace {
 public:
  static constexpr std::int64_t kHurriedNs = 2'000'000'000;

  // Begins now. `is_asked_to_end` is polled.
  Grace(std::int64_t limit_ns, std::function<bool()> is_asked_to_end)
      : end_ns_(clock_ns(CLOCK_MONOTONIC) + limit_ns), is_asked_to_end_(std::move(is_asked_to_end)) {}

  bool is_over() {
    const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (!is_hurried_ && is_asked_to_end_()) {
      is_hurried_ = true;
      end_ns_ = std::min(end_ns_, now_ns + kHurriedNs);
    }
    return now_ns >= end_ns_;
  }

 private:
  std::int64_t end_ns_;
  std::function<bool()> is_asked_to_end_;
  bool is_hurried_ = false;
};

}  // namespace jaxprof::launcher

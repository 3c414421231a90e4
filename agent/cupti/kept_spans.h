// When records are kept, on CUPTI's clock. Usually kinds are enabled while the window is open, and all that comes is
// kept: what was launched inside may well end later. But some kinds have to stay enabled between windows (a repeated
// window that may open again at once, graphs, a CUPTI that hangs when it is switched off), and then the records between
// two segments are left out here. One thread at a time opens and closes; the drain thread asks.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::cupti {

class KeptSpans {
 public:
  // A segment begins or ends at `now_ns` of CUPTI's clock.
  void open(std::uint64_t now_ns) noexcept;
  void close(std::uint64_t now_ns) noexcept;
  // From now on records of between the segments are expected, and left out.
  void leave_out_others() noexcept { is_strict_.store(true, std::memory_order_release); }

  bool leaves_out_others() const noexcept { return is_strict_.load(std::memory_order_acquire); }

  // Is a record of these times to be kept? Those without times are, as nobody knows.
  bool keeps(std::uint64_t start_ns, std::uint64_t end_ns) const noexcept {
    if (!is_strict_.load(std::memory_order_relaxed) || start_ns == 0) [[likely]]
      return true;
    return touches_span(start_ns, end_ns);
  }

 private:
  static constexpr std::uint32_t kSpans = 256;  // the last ones; records come seconds late at most
  bool touches_span(std::uint64_t start_ns, std::uint64_t end_ns) const noexcept;

  struct Span {
    std::atomic<std::uint64_t> begin_ns;
    std::atomic<std::uint64_t> end_ns;  // the largest number: not yet
  };
  Span spans_[kSpans] = {};
  std::atomic<std::uint32_t> count_{0};
  std::atomic<bool> is_strict_{false};
};

}  // namespace jaxprof::cupti

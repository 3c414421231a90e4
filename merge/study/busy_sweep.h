// Which classes of work a GPU was busy with, instant by instant, from work in order of its start. Nothing is kept but
// until when each class is busy: work of one class that overlaps counts once, and the whole time axis is told in
// stretches, which is why classes sum up to wall time exactly.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "merge/study/gpu_work.h"
#include "merge/study/time_span.h"

namespace jaxprof::study {

// Classes that are busy at once, as bits.
inline constexpr unsigned kBusyCompute = 1U << static_cast<unsigned>(WorkClass::kCompute);
inline constexpr unsigned kBusyComm = 1U << static_cast<unsigned>(WorkClass::kComm);
inline constexpr unsigned kBusyMemop = 1U << static_cast<unsigned>(WorkClass::kMemop);
inline constexpr unsigned kBusyStates = 8;

// One GPU of one process.
class BusySweep {
 public:
  // Calls emit(TimeSpan, classes) for what lies before the work's start; classes 0: idle. What begins before the work
  // that went before, which no run file has, begins with it.
  template <typename Emit>
  void add(const GpuWork& work, Emit&& emit) {
    advance(std::max(now_ns_, work.start_ns), emit);
    std::int64_t& until_ns = until_ns_[static_cast<std::size_t>(work.work_class)];
    until_ns = std::max(until_ns, work.end_ns);
  }
  // The rest, to the end of time.
  template <typename Emit>
  void finish(Emit&& emit) {
    advance(std::numeric_limits<std::int64_t>::max(), emit);
  }

 private:
  template <typename Emit>
  void advance(std::int64_t to_ns, Emit& emit) {
    while (now_ns_ < to_ns) {
      unsigned classes = 0;
      std::int64_t next_ns = to_ns;
      for (unsigned i = 0; i < until_ns_.size(); ++i) {
        if (until_ns_[i] <= now_ns_) continue;
        classes |= 1U << i;
        next_ns = std::min(next_ns, until_ns_[i]);
      }
      emit(TimeSpan{now_ns_, next_ns}, classes);
      now_ns_ = next_ns;
    }
  }

  static constexpr std::int64_t kBegin = std::numeric_limits<std::int64_t>::min();
  std::int64_t now_ns_ = kBegin;
  std::array<std::int64_t, 3> until_ns_{kBegin, kBegin, kBegin};
};

}  // namespace jaxprof::study

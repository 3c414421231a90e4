// How many packets a socket is read for: 200 in 10 ms, which is more than a run of a thousand nodes sends at its worst.
// Whoever sends more fills the kernel's buffer, and not the time of a processor that belongs to the job. Times in ns of
// one clock.
#pragma once

#include <cstdint>

namespace jaxprof::netsampler {

class ReceiveBudget {
 public:
  int left(std::int64_t now_ns) {
    if (now_ns - begin_ns_ >= kSliceNs || now_ns < begin_ns_) {
      begin_ns_ = now_ns;
      n_used_ = 0;
    }
    return kPackets - n_used_;
  }
  void use() { ++n_used_; }
  std::int64_t end_ns() const { return begin_ns_ + kSliceNs; }

 private:
  static constexpr std::int64_t kSliceNs = 10'000'000;
  static constexpr int kPackets = 200;

  std::int64_t begin_ns_ = INT64_MIN / 2;
  int n_used_ = 0;
};

}  // namespace jaxprof::netsampler

// How long a reply is waited for: 50 ms at first, then by the replies that came (mean and deviation, as TCP does),
// never less than 20 ms, for a node that is busy answers late, and never more than 200 ms. A loss doubles it. Times in
// ns.
#pragma once

#include <algorithm>
#include <cstdint>

namespace jaxprof::netsampler {

class ReplyTimeout {
 public:
  std::int64_t ns() const { return timeout_ns_; }

  void take_round_trip(std::int64_t round_trip_ns) {
    if (!has_mean_) {
      has_mean_ = true;
      mean_ns_ = round_trip_ns;
      deviation_ns_ = round_trip_ns / 2;
    } else {
      const std::int64_t error_ns = round_trip_ns - mean_ns_;
      mean_ns_ += error_ns / 8;
      deviation_ns_ += ((error_ns < 0 ? -error_ns : error_ns) - deviation_ns_) / 4;
    }
    timeout_ns_ = std::clamp(mean_ns_ + 4 * deviation_ns_, kShortestNs, kLongestNs);
  }

  void take_loss() { timeout_ns_ = std::min(2 * timeout_ns_, kLongestNs); }

 private:
  static constexpr std::int64_t kFirstNs = 50'000'000;
  static constexpr std::int64_t kShortestNs = 20'000'000;
  static constexpr std::int64_t kLongestNs = 200'000'000;

  std::int64_t timeout_ns_ = kFirstNs;
  bool has_mean_ = false;
  std::int64_t mean_ns_ = 0;
  std::int64_t deviation_ns_ = 0;
};

}  // namespace jaxprof::netsampler

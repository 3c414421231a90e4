// All bursts of probes between two nodes, small enough that a run of thousands of nodes fits into memory. Of a burst's
// exchanges only those are kept that bound the clocks' difference best for some rate at which they may drift: the hull
// of each direction, a handful of points. So the interval at an instant can be had later, when the rate is known, as if
// all packets were still there. The packet with the least round trip is not what counts: the best one each way is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/clock/exchange_times.h"

namespace jaxprof::clock {

inline constexpr double kSteepestDrift = 1000e-6;  // between two clocks, ns per ns

// b's clock less a's, less the burst's base, when a's clock was `after_ns` behind the burst's own instant.
struct EnvelopePoint {
  float after_ns = 0;
  std::int32_t difference_ns = 0;
};

struct LinkBurst {
  std::int64_t a_ns = 0;     // the burst's instant by a's clock: the middle of its packets
  std::int64_t base_ns = 0;  // b's clock less a's there, roughly
  std::uint32_t first_point = 0;
  std::uint32_t number = 0;  // the client's own
  std::uint32_t min_rtt_ns = 0;
  std::uint16_t highs = 0;      // points from above, then
  std::uint16_t lows = 0;       // points from below
  std::uint16_t exchanges = 0;  // that were used
  bool is_from_a = true;        // a was the client
  bool is_kernel = true;
};

struct Interval {
  double lo = 0;
  double hi = 0;
  double middle() const { return (lo + hi) / 2; }
  double width() const { return hi - lo; }
};

class ProbeLink {
 public:
  ProbeLink(std::uint32_t a, std::uint32_t b) : a_(a), b_(b) {}
  std::uint32_t a() const { return a_; }
  std::uint32_t b() const { return b_; }

  // Takes the kernel's stamps alone if at least half of the exchanges have all of them. False if nothing is left or
  // what is left contradicts itself: it is kept out, and counted.
  bool add(const std::vector<ExchangeTimes>& exchanges, std::uint32_t number, bool is_from_a);
  void count(std::uint64_t sent, std::uint64_t answered) { sent_ += sent, answered_ += answered; }
  void count_rejected() { ++rejected_; }
  // By time; bursts of the same time in an order that does not depend on that in which they came.
  void put_in_order();

  const std::vector<LinkBurst>& bursts() const { return bursts_; }
  std::span<const EnvelopePoint> highs(const LinkBurst& burst) const {
    return {points_.data() + burst.first_point, burst.highs};
  }
  std::span<const EnvelopePoint> lows(const LinkBurst& burst) const {
    return {points_.data() + burst.first_point + burst.highs, burst.lows};
  }
  // Of b's clock less a's less the base, at the burst's instant, if the difference changes by `rate` ns per ns of a's.
  Interval interval(const LinkBurst& burst, double rate) const;

  std::uint64_t sent() const { return sent_; }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t rejected() const { return rejected_; }

 private:
  std::uint32_t a_;
  std::uint32_t b_;
  std::vector<LinkBurst> bursts_;
  std::vector<EnvelopePoint> points_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace jaxprof::clock

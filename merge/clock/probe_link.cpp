#include "merge/clock/probe_link.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace jaxprof::clock {
namespace {

constexpr double kFarthestPointNs = 2e9;  // fits the 32 bits of a point

// One packet as a bound: when a's clock was `after_ns` behind the burst's instant the difference was at most (at least)
// `difference_ns`.
struct Bound {
  double after_ns;
  double difference_ns;
};

// What is left of upper bounds when only those count that are the lowest for some drift within the steepest.
void keep_lower_hull(std::vector<Bound>* bounds) {
  const auto is_before = [](const Bound& x, const Bound& y) {
    return x.after_ns != y.after_ns ? x.after_ns < y.after_ns : x.difference_ns < y.difference_ns;
  };
  if (!std::is_sorted(bounds->begin(), bounds->end(), is_before)) std::sort(bounds->begin(), bounds->end(), is_before);
  std::vector<Bound>& hull = *bounds;  // grows where the bounds have been looked at
  std::size_t size = 0;
  for (const Bound bound : *bounds) {
    if (size > 0 && hull[size - 1].after_ns == bound.after_ns) continue;
    while (size >= 2) {
      const Bound& p = hull[size - 2];
      const Bound& q = hull[size - 1];
      const double turn = (q.after_ns - p.after_ns) * (bound.difference_ns - p.difference_ns) -
                          (q.difference_ns - p.difference_ns) * (bound.after_ns - p.after_ns);
      if (turn > 0) break;
      --size;
    }
    hull[size++] = bound;
  }
  const auto slope = [&hull](std::size_t i) {
    return (hull[i + 1].difference_ns - hull[i].difference_ns) / (hull[i + 1].after_ns - hull[i].after_ns);
  };
  std::size_t begin = 0;
  while (begin + 1 < size && slope(begin) < -kSteepestDrift) ++begin;
  while (size - begin > 1 && slope(size - 2) > kSteepestDrift) --size;
  hull.resize(size);
  hull.erase(hull.begin(), hull.begin() + static_cast<std::ptrdiff_t>(begin));
}

// Room for a quarter more than there is: links are many, and half of twice as much would lie idle.
template <typename Item>
void make_room(std::vector<Item>* items, std::size_t more) {
  const std::size_t needed = items->size() + more;
  if (needed > items->capacity()) items->reserve(needed + needed / 4 + 4);
}

}  // namespace

bool ProbeLink::add(const std::vector<ExchangeTimes>& exchanges, std::uint32_t number, bool is_from_a) {
  const auto kernel = std::count_if(exchanges.begin(), exchanges.end(), [](const auto& e) { return e.is_kernel; });
  const bool is_kernel = kernel > 0 && 2 * static_cast<std::size_t>(kernel) >= exchanges.size();
  LinkBurst burst;
  burst.number = number;
  burst.is_from_a = is_from_a;
  burst.is_kernel = is_kernel;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t min_rtt_ns = std::numeric_limits<std::int64_t>::max();
  for (const ExchangeTimes& exchange : exchanges) {
    if (is_kernel && !exchange.is_kernel) continue;
    first_ns = std::min({first_ns, exchange.from_a.a_ns, exchange.from_b.a_ns});
    last_ns = std::max({last_ns, exchange.from_a.a_ns, exchange.from_b.a_ns});
    if (exchange.round_trip_ns < min_rtt_ns) {
      min_rtt_ns = exchange.round_trip_ns;
      burst.base_ns = exchange.from_a.b_ns - exchange.from_a.a_ns;
    }
    ++burst.exchanges;
  }
  if (burst.exchanges == 0) return false;
  burst.a_ns = first_ns + (last_ns - first_ns) / 2;
  burst.min_rtt_ns = static_cast<std::uint32_t>(min_rtt_ns);

  // Lows are turned over, so that one hull serves both.
  std::vector<Bound> highs;
  std::vector<Bound> lows;
  highs.reserve(exchanges.size());
  lows.reserve(exchanges.size());
  for (const ExchangeTimes& exchange : exchanges) {
    if (is_kernel && !exchange.is_kernel) continue;
    const auto bound = [&burst](const Message& message, double sign) {
      const auto after_ns = static_cast<double>(static_cast<float>(message.a_ns - burst.a_ns));
      const auto difference_ns = static_cast<double>(message.b_ns - message.a_ns - burst.base_ns);
      return Bound{after_ns, sign * difference_ns + message.error_ns};
    };
    highs.push_back(bound(exchange.from_a, 1));
    lows.push_back(bound(exchange.from_b, -1));
    if (std::abs(highs.back().difference_ns) > kFarthestPointNs ||
        std::abs(lows.back().difference_ns) > kFarthestPointNs)
      return false;
  }
  keep_lower_hull(&highs);
  keep_lower_hull(&lows);

  const std::size_t before = points_.size();
  make_room(&points_, highs.size() + lows.size());
  for (const Bound& high : highs) {
    points_.push_back({static_cast<float>(high.after_ns), static_cast<std::int32_t>(std::ceil(high.difference_ns))});
  }
  for (const Bound& low : lows) {
    points_.push_back({static_cast<float>(low.after_ns), static_cast<std::int32_t>(std::floor(-low.difference_ns))});
  }
  burst.first_point = static_cast<std::uint32_t>(before);
  burst.highs = static_cast<std::uint16_t>(highs.size());
  burst.lows = static_cast<std::uint16_t>(lows.size());
  // At the steepest drift either way the packets still have to fit together.
  if (std::max(interval(burst, kSteepestDrift).width(), interval(burst, -kSteepestDrift).width()) < 0 &&
      interval(burst, 0).width() < 0) {
    points_.resize(before);
    return false;
  }
  make_room(&bursts_, 1);
  bursts_.push_back(burst);
  return true;
}

void ProbeLink::put_in_order() {
  // Two bursts with the same key would be two copies of one.
  std::sort(bursts_.begin(), bursts_.end(), [](const LinkBurst& x, const LinkBurst& y) {
    return std::tie(x.a_ns, x.is_from_a, x.number, x.base_ns, x.min_rtt_ns, x.exchanges) <
           std::tie(y.a_ns, y.is_from_a, y.number, y.base_ns, y.min_rtt_ns, y.exchanges);
  });
}

Interval ProbeLink::interval(const LinkBurst& burst, double rate) const {
  Interval found{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const EnvelopePoint& high : highs(burst)) {
    found.hi = std::min(found.hi, high.difference_ns - rate * static_cast<double>(high.after_ns));
  }
  for (const EnvelopePoint& low : lows(burst)) {
    found.lo = std::max(found.lo, low.difference_ns - rate * static_cast<double>(low.after_ns));
  }
  return found;
}

}  // namespace jaxprof::clock

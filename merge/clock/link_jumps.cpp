#include "merge/clock/link_jumps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "merge/clock/link_line.h"

namespace jaxprof::clock {
namespace {

constexpr double kDriftSlack = 2e-6;     // how fast a rate may be left within a few bursts
constexpr double kShortestBaseNs = 1e9;  // of a rate that is taken from two bursts
constexpr std::size_t kNeighbours = 6;   // bursts on each side that tell the rate
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Sight {
  std::uint32_t burst;
  double time_ns;
  Interval interval;
  std::uint32_t stretch;  // between changes of clock sources
};

Interval change(const Sight& from, const Sight& to) {
  return {to.interval.lo - from.interval.hi, to.interval.hi - from.interval.lo};
}

constexpr Interval kUnbounded{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};

// Intervals that miss each other by less than a rate may drift: all between them.
Interval ordered(const Interval& rates) {
  return {std::min(rates.lo, rates.hi), std::max(rates.lo, rates.hi)};
}

// Rates that fit all bursts of a stretch that begins at `near` and goes on by `step` as long as they do. Unbounded if
// they are of one moment, or if the third does not fit already: then the first two may lie on both sides of a jump.
Interval rates_from(std::span<const Sight> sights, std::size_t near, std::ptrdiff_t step) {
  Interval rates = kUnbounded;
  std::size_t taken = 1;
  for (std::size_t far = near; taken < kNeighbours; ++taken) {
    far += static_cast<std::size_t>(step);  // runs below 0 as well, and is out of range then
    if (far >= sights.size() || sights[far].stretch != sights[near].stretch) break;
    Interval with = rates;
    for (std::size_t i = near; i != far; i += static_cast<std::size_t>(step)) {
      const Sight& from = sights[std::min(i, far)];
      const Sight& to = sights[std::max(i, far)];
      const double base_ns = to.time_ns - from.time_ns;
      if (base_ns < kShortestBaseNs) continue;
      const Interval moved = change(from, to);
      with = {std::max(with.lo, moved.lo / base_ns), std::min(with.hi, moved.hi / base_ns)};
    }
    if (with.lo > with.hi + 2 * kDriftSlack) return taken > 2 ? ordered(rates) : kUnbounded;
    rates = with;
  }
  return ordered(rates);
}

bool is_bounded(const Interval& rates) {
  return std::isfinite(rates.lo) && std::isfinite(rates.hi);
}

class JumpFinder {
 public:
  JumpFinder(const ProbeLink& link, std::span<const SourceChange> changes, LinkJumps* found) : found_(found) {
    if (link.bursts().empty()) return;
    std::vector<std::uint32_t> all(link.bursts().size());
    std::iota(all.begin(), all.end(), 0U);
    const LinkLine line = fit_line(link, all);
    is_rate_known_ = line.is_rate_known;
    const LinkBurst& first = link.bursts().front();
    for (const std::uint32_t index : all) {
      const LinkBurst& burst = link.bursts()[index];
      const Interval interval = link.interval(burst, line.rate);
      if (interval.width() < 0) {
        found_->bad_bursts.push_back(index);
        continue;
      }
      const auto time_ns = static_cast<double>(burst.a_ns - first.a_ns);
      const double shift_ns = static_cast<double>(burst.base_ns - first.base_ns) - line.rate * time_ns;
      std::uint32_t stretch = 0;
      for (const SourceChange& change : changes) {
        if (change.node == link.a() && change.raw_ns <= burst.a_ns) ++stretch;
        if (change.node == link.b() && change.raw_ns <= burst.a_ns + burst.base_ns) ++stretch;
      }
      sights_.push_back({index, time_ns, {interval.lo + shift_ns, interval.hi + shift_ns}, stretch});
    }
  }

  void run() {
    std::size_t done = 0;  // jumps before it are on record
    std::size_t i = 0;
    while (i + 1 < sights_.size()) {
      const Interval rates = is_suspect(i) ? rates_around(i) : kUnbounded;
      const int direction = is_bounded(rates) ? sign(i, i + 1, rates) : 0;
      const std::size_t bad = direction == 0 ? kNone : bad_burst_at(i, rates);
      if (bad != kNone) {
        found_->bad_bursts.push_back(sights_[bad].burst);
        sights_.erase(sights_.begin() + static_cast<std::ptrdiff_t>(bad));
        i = std::max(done, i < 2 ? 0 : i - 2);  // the bursts around it have new neighbours
        continue;
      }
      if (direction != 0) {
        add_jump(i, rates);
        done = i + 1;
      }
      ++i;
    }
  }

 private:
  // Whether the clocks jumped between two bursts, and which way, if they part by one of `rates` in between.
  int sign(std::size_t from, std::size_t to, const Interval& rates) const {
    const Interval step = change(sights_[from], sights_[to]);
    const double span_ns = sights_[to].time_ns - sights_[from].time_ns;
    if (step.lo > (rates.hi + kDriftSlack) * span_ns) return 1;
    if (step.hi < (rates.lo - kDriftSlack) * span_ns) return -1;
    return 0;
  }

  // Most pairs of bursts fit the rate of the whole link; the others are looked at closely.
  bool is_suspect(std::size_t i) const { return !is_rate_known_ || sign(i, i + 1, {0, 0}) != 0; }

  // From the rates before i to those behind it.
  Interval rates_around(std::size_t i) const {
    const Interval before = rates_from(sights_, i, -1);
    const Interval after = rates_from(sights_, i + 1, 1);
    if (!is_bounded(before)) return after;
    if (!is_bounded(after)) return before;
    return {std::min(before.lo, after.lo), std::max(before.hi, after.hi)};
  }

  // Of the two bursts around a suspected jump one may be bad: then its neighbours fit each other.
  std::size_t bad_burst_at(std::size_t i, const Interval& rates) const {
    if (i + 2 < sights_.size() && sign(i, i + 2, rates) == 0 && sign(i + 1, i + 2, rates) != 0) return i + 1;
    if (i >= 1 && sign(i - 1, i + 1, rates) == 0 && sign(i - 1, i, rates) != 0) return i;
    return kNone;
  }

  void add_jump(std::size_t i, const Interval& rates) {
    LinkJump jump{.before = sights_[i].burst, .after = sights_[i + 1].burst};
    const Interval step = change(sights_[i], sights_[i + 1]);
    const double span_ns = sights_[i + 1].time_ns - sights_[i].time_ns;
    jump.size_ns = step.middle() - rates.middle() * span_ns;
    jump.slack_ns = step.width() / 2 + (rates.width() / 2 + kDriftSlack) * span_ns;
    // Single bad bursts have been ruled out as far as there are neighbours.
    jump.is_confirmed = i >= 1 && i + 2 < sights_.size();
    found_->jumps.push_back(jump);
  }

  LinkJumps* found_;
  std::vector<Sight> sights_;
  bool is_rate_known_ = false;
};

}  // namespace

LinkJumps find_jumps(const ProbeLink& link, std::span<const SourceChange> changes) {
  LinkJumps found;
  JumpFinder(link, changes, &found).run();
  std::sort(found.bad_bursts.begin(), found.bad_bursts.end());
  return found;
}

}  // namespace jaxprof::clock

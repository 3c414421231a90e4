// Instances one after the other by the time at which all were there, so that where a share of blame leads to is known.
#include "merge/study/fault.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "merge/study/blame.h"

namespace jaxprof::study {
namespace {

constexpr std::size_t kMostOrigins = 8;  // of an instance, the largest

// What delayed an instance, and by how much: a unit, or transfers (the number behind the last unit).
struct Origin {
  std::uint32_t unit = 0;
  float ns = 0;
};

void add_to(std::int64_t& sum_ns, std::int64_t ns) {
  sum_ns = instant_after(sum_ns, ns);
}

class Tracing {
 public:
  Tracing(const Arrivals& arrivals, const Judged& judged, const Subjects& units,
          const std::vector<std::int64_t>& over_usual_ns, std::size_t n_lanes, std::size_t n_steps)
      : arrivals_(arrivals),
        judged_(judged),
        units_(units),
        over_usual_ns_(over_usual_ns),
        n_lanes_(n_lanes),
        weight_(units.size() + 1, 0),
        delay_ns_(units.size() + 1, 0),
        origins_(arrivals.size()) {
    fault_.n_steps = std::max<std::size_t>(1, n_steps);
    fault_.n_units = units.size();
    for (auto* sums : {&fault_.wait_ns, &fault_.blame_ns, &fault_.fault_ns, &fault_.certain_ns}) {
      sums->assign(fault_.n_steps * fault_.n_units, 0);
    }
    fault_.transfers_ns.assign(fault_.n_steps, 0);
    for (auto* counts : {&fault_.last_only_ns, &fault_.n_instances, &fault_.n_last, &fault_.n_last_certain}) {
      counts->assign(fault_.n_units, 0);
    }
  }

  Fault trace() {
    const std::vector<std::uint32_t> order = in_order();
    lateness_ = member_lateness(arrivals_, is_traced_);
    instance_of_ = instances_of_members();
    for (const std::uint32_t instance : order) follow(instance);
    fault_.lateness = std::move(lateness_);
    return std::move(fault_);
  }

 private:
  // Traced are also instances that were not asked for: those that were may have been late because of them.
  std::vector<std::uint32_t> in_order() {
    is_traced_.assign(arrivals_.size(), 0);
    std::vector<std::uint32_t> order;
    const auto needed = static_cast<std::uint8_t>(kArrivalAsRecorded | kArrivalSynchronizing | kArrivalResolved |
                                                  (judged_.lacks_members ? 0 : kArrivalComplete));
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      if (judged_.is_counted[i] != 0) {
        const bool is_rooted = !arrivals_.has(i, kArrivalSynchronizing);
        fault_.n_rooted += is_rooted ? 1 : 0;
        fault_.n_unresolved += !is_rooted && !arrivals_.has(i, kArrivalResolved) ? 1 : 0;
      }
      if (!arrivals_.has(i, needed)) continue;
      is_traced_[i] = 1;
      order.push_back(static_cast<std::uint32_t>(i));
    }
    const auto& last_ns = arrivals_.instances.last_ns;
    std::stable_sort(order.begin(), order.end(),
                     [&last_ns](std::uint32_t a, std::uint32_t b) { return last_ns[a] < last_ns[b]; });
    return order;
  }

  std::vector<std::uint32_t> instances_of_members() const {
    std::vector<std::uint32_t> instance_of(arrivals_.members.call.size());
    for (std::size_t i = 0; i < arrivals_.size(); ++i) {
      std::fill(instance_of.begin() + static_cast<std::ptrdiff_t>(arrivals_.begin(i)),
                instance_of.begin() + static_cast<std::ptrdiff_t>(arrivals_.end(i)), static_cast<std::uint32_t>(i));
    }
    return instance_of;
  }

  void follow(std::uint32_t instance) {
    const auto starts_ns = arrivals_.starts_ns(instance);
    blame_ns_.resize(starts_ns.size());
    const WaitSum sum = sharing_.share(starts_ns, blame_ns_);
    for (std::size_t i = 0; i < starts_ns.size(); ++i) {
      if (blame_ns_[i] > 0) follow_back(arrivals_.begin(instance) + i, blame_ns_[i]);
    }
    if (judged_.is_counted[instance] != 0) count(instance, sum);
    remember(instance, sum.wait_ns);
    for (const std::uint32_t unit : touched_) weight_[unit] = 0;
    touched_.clear();
  }

  // Shares out the blame of one member.
  void follow_back(std::size_t member, std::int64_t blame_ns) {
    const std::int64_t late_ns = lateness_.off_middle_ns[member];
    const std::int64_t self_ns = lateness_.self_ns[member];
    std::int64_t rest_ns = blame_ns;
    if (self_ns != kNoLateness && late_ns > kSignificantNs && late_ns - kSignificantNs > self_ns) {
      const double late = static_cast<double>(late_ns);
      const double inherited = (late - static_cast<double>(std::max<std::int64_t>(0, self_ns))) / late;
      const std::vector<Origin>& origins = origins_[instance_of_[arrivals_.members.previous[member]]];
      const double all = std::accumulate(origins.begin(), origins.end(), 0.0,
                                         [](double sum, const Origin& origin) { return sum + origin.ns; });
      for (const Origin& origin : origins) {
        const double passed = static_cast<double>(blame_ns) * inherited * origin.ns / all;
        const std::int64_t passed_ns = std::clamp<std::int64_t>(static_cast<std::int64_t>(passed), 0, rest_ns);
        give(origin.unit, passed_ns);
        rest_ns -= passed_ns;
      }
    }
    give(units_.of(member), rest_ns);
  }

  void give(std::uint32_t unit, std::int64_t ns) {
    if (ns == 0) return;
    if (weight_[unit] == 0) touched_.push_back(unit);
    weight_[unit] += ns;
  }

  void count(std::uint32_t instance, const WaitSum& sum) {
    ++fault_.n_resolved;
    add_to(fault_.removable_ns, sum.removable_ns);
    const std::int32_t step = arrivals_.instances.step[instance];
    const std::size_t at = (step > 0 ? static_cast<std::size_t>(step) : 0) * fault_.n_units;
    const bool is_certain = arrivals_.has(instance, kArrivalCertain);
    const std::size_t begin = arrivals_.begin(instance);
    std::size_t last = begin;
    for (std::size_t i = begin; i < arrivals_.end(instance); ++i) {
      const std::uint32_t unit = units_.of(i);
      add_to(fault_.wait_ns[at + unit],
             sum.wait_ns == 0 ? 0 : span_ns(arrivals_.members.start_ns[i], arrivals_.instances.last_ns[instance]));
      add_to(fault_.blame_ns[at + unit], blame_ns_[i - begin]);
      ++fault_.n_instances[unit];
      if (blame_ns_[i - begin] >= blame_ns_[last - begin]) last = i;
    }
    for (const std::uint32_t unit : touched_) {
      if (unit == fault_.n_units) {
        add_to(fault_.transfers_ns[at / fault_.n_units], weight_[unit]);
        continue;
      }
      add_to(fault_.fault_ns[at + unit], weight_[unit]);
      if (is_certain) add_to(fault_.certain_ns[at + unit], weight_[unit]);
    }
    if (sum.wait_ns == 0) return;
    ++fault_.n_last[units_.of(last)];
    fault_.n_last_certain[units_.of(last)] += is_certain ? 1 : 0;
    add_to(fault_.last_only_ns[units_.of(last)], sum.wait_ns);
  }

  // What the instance's members carry on, if they are late elsewhere. What delayed all GPUs alike delays nobody against
  // another.
  void remember(std::uint32_t instance, std::int64_t wait_ns) {
    if (arrivals_.end(instance) - arrivals_.begin(instance) >= n_lanes_) return;
    carried_.clear();
    const auto carry = [this](std::uint32_t unit, double ns) {
      if (ns <= 0) return;
      if (delay_ns_[unit] == 0) carried_.push_back(unit);
      delay_ns_[unit] += ns;
    };
    if (wait_ns > 0) {
      const auto late_ns = std::span(lateness_.off_middle_ns).subspan(arrivals_.begin(instance), blame_ns_.size());
      const auto delay = static_cast<double>(*std::max_element(late_ns.begin(), late_ns.end()));
      for (const std::uint32_t unit : touched_) {
        carry(unit, delay * static_cast<double>(weight_[unit]) / static_cast<double>(wait_ns));
      }
    }
    carry(static_cast<std::uint32_t>(fault_.n_units), static_cast<double>(over_usual_ns_[instance]));
    if (const auto before = common_previous(instance)) {
      for (const Origin& origin : origins_[*before]) carry(origin.unit, origin.ns);
    }
    const std::size_t n = std::min(kMostOrigins, carried_.size());
    std::partial_sort(
        carried_.begin(), carried_.begin() + static_cast<std::ptrdiff_t>(n), carried_.end(),
        [this](std::uint32_t a, std::uint32_t b) { return std::pair(-delay_ns_[a], a) < std::pair(-delay_ns_[b], b); });
    for (std::size_t i = 0; i < n; ++i) {
      origins_[instance].push_back({carried_[i], static_cast<float>(delay_ns_[carried_[i]])});
    }
    for (const std::uint32_t unit : carried_) delay_ns_[unit] = 0;
  }

  // The operation from which all members came; where they came from several, how late each was shows who was.
  std::optional<std::uint32_t> common_previous(std::uint32_t instance) const {
    std::optional<std::uint32_t> common;
    for (std::size_t i = arrivals_.begin(instance); i < arrivals_.end(instance); ++i) {
      const std::uint32_t previous = arrivals_.members.previous[i];
      if (previous == kNoMember || (common && instance_of_[previous] != *common)) return std::nullopt;
      common = instance_of_[previous];
    }
    return common;
  }

  const Arrivals& arrivals_;
  const Judged& judged_;
  const Subjects& units_;
  const std::vector<std::int64_t>& over_usual_ns_;
  std::size_t n_lanes_;
  Fault fault_;
  BlameSharing sharing_;
  MemberLateness lateness_;
  std::vector<std::uint8_t> is_traced_;
  std::vector<std::uint32_t> instance_of_;  // by member
  // Of the instance at hand:
  std::vector<std::int64_t> blame_ns_;  // by member
  std::vector<std::int64_t> weight_;    // by unit, its fault; behind them that of transfers
  std::vector<std::uint32_t> touched_;  // units whose weight is not 0
  std::vector<double> delay_ns_;        // the same for what is carried on
  std::vector<std::uint32_t> carried_;
  std::vector<std::vector<Origin>> origins_;  // by instance
};

}  // namespace

std::int64_t Fault::total(const std::vector<std::int64_t>& sums, std::size_t unit) const {
  std::int64_t sum_ns = 0;
  for (std::size_t step = 0; step < n_steps; ++step) sum_ns = instant_after(sum_ns, sums[step * n_units + unit]);
  return sum_ns;
}

Fault trace_fault(const Arrivals& arrivals, const Judged& judged, const Subjects& units,
                  const std::vector<std::int64_t>& over_usual_ns, std::size_t n_lanes, std::size_t n_steps) {
  return Tracing(arrivals, judged, units, over_usual_ns, n_lanes, n_steps).trace();
}

}  // namespace jaxprof::study

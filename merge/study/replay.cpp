// One pass over the members in order of time; a member's previous operation always lies before it.
#include "merge/study/replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

std::vector<std::size_t> counted_in_order(const Arrivals& arrivals, const std::vector<std::uint8_t>& is_counted) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (is_counted[i] != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&arrivals](std::size_t a, std::size_t b) {
    return std::tuple(arrivals.instances.first_ns[a], a) < std::tuple(arrivals.instances.first_ns[b], b);
  });
  return order;
}

// The begin of the step in which the process was when it arrived; its arrival if there is none.
std::int64_t base_of(const Scope& scope, std::size_t process, std::int32_t step, std::int64_t start_ns) {
  if (step < 0) return start_ns;
  for (const ProcessStep& own : scope.axis().of_process(process)) {
    if (own.index == static_cast<std::uint32_t>(step)) return std::min(own.span.begin_ns, start_ns);
  }
  return start_ns;
}

std::int32_t step_of(const Scope& scope, const Arrivals& arrivals, std::size_t instance) {
  return scope.has_steps() ? arrivals.instances.step[instance] : 0;
}

std::int64_t median(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Replay::Replay(const RunTables& run, const Scope& scope, const Arrivals& arrivals,
               const std::vector<std::uint8_t>& is_counted) {
  excess_ns_.assign(run.processes.process.size(), 0);
  const std::vector<std::size_t> order = counted_in_order(arrivals, is_counted);
  take_members(arrivals, scope, order);
  take_transfers(run, arrivals, order);
  take_own_times();
  std::vector<std::int64_t> step_end_ns(steps_.size(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 0; i < n_instances(); ++i) {
    for (std::size_t m = member_offset_[i]; m < member_offset_[i + 1]; ++m) {
      step_end_ns[step_[i]] = std::max(step_end_ns[step_[i]], end_ns_[m]);
    }
  }
  measured_ns_ = length_of(step_end_ns);
}

void Replay::take_members(const Arrivals& arrivals, const Scope& scope, const std::vector<std::size_t>& order) {
  std::vector<std::uint32_t> place(arrivals.members.call.size(), kNoMember);  // of a member of `arrivals` here
  std::map<std::int32_t, std::uint32_t> step_place;
  for (const std::size_t i : order) {
    step_place.try_emplace(step_of(scope, arrivals, i), 0);
  }
  for (auto& [step, at] : step_place) {
    at = static_cast<std::uint32_t>(steps_.size());
    const bool follows = !steps_.empty() && steps_.back().index + 1 == step;
    steps_.push_back({step, std::numeric_limits<std::int64_t>::max(), follows});
  }
  // The operation before, of those that are replayed. One that is not, in a step of which others are, lacks a member's
  // record: it is passed over, as a part of the time between the two.
  const auto replayed_before = [&](std::uint32_t before) {
    const auto& offsets = arrivals.instances.member_offset;
    while (before != kNoMember && place[before] == kNoMember) {
      const auto instance =
          std::upper_bound(offsets.begin(), offsets.end(), std::uint64_t{before}) - offsets.begin() - 1;
      if (!step_place.contains(step_of(scope, arrivals, static_cast<std::size_t>(instance)))) return kNoMember;
      before = arrivals.members.previous[before];
    }
    return before == kNoMember ? kNoMember : place[before];
  };
  for (const std::size_t i : order) {
    const std::int32_t step = step_of(scope, arrivals, i);
    step_.push_back(step_place[step]);
    makes_wait_.push_back(arrivals.has(i, kArrivalSynchronizing) ? 1 : 0);
    for (std::size_t m = arrivals.begin(i); m < arrivals.end(i); ++m) {
      const std::uint32_t previous = replayed_before(arrivals.members.previous[m]);
      place[m] = static_cast<std::uint32_t>(process_.size());
      process_.push_back(arrivals.members.process[m]);
      previous_.push_back(previous);
      const std::int64_t start_ns = arrivals.members.start_ns[m];
      const std::int64_t base_ns =
          previous == kNoMember ? base_of(scope, arrivals.members.process[m], scope.has_steps() ? step : -1, start_ns)
                                : end_ns_[previous];
      base_ns_.push_back(base_ns);
      own_ns_.push_back(std::max<std::int64_t>(0, span_ns(base_ns, start_ns)));
      end_ns_.push_back(arrivals.members.end_ns[m]);
      Step& its_step = steps_[step_.back()];
      its_step.begin_ns = std::min(its_step.begin_ns, previous == kNoMember ? base_ns : start_ns);
    }
    member_offset_.push_back(process_.size());
  }
}

// Each member's, and the median over all instances of its operation, size and number of members.
void Replay::take_transfers(const RunTables& run, const Arrivals& arrivals, const std::vector<std::size_t>& order) {
  std::map<std::tuple<Coll, std::uint64_t, std::size_t>, std::vector<std::int64_t>> kinds;
  const auto kind_of = [&](std::size_t i) {
    const std::uint64_t row = arrivals.instances.collective[i];
    return std::tuple(run.collectives.coll[row], run.collectives.size_bytes[row], arrivals.end(i) - arrivals.begin(i));
  };
  transfer_ns_.reserve(process_.size());
  for (const std::size_t i : order) {
    auto& of_kind = kinds[kind_of(i)];
    for (std::size_t m = arrivals.begin(i); m < arrivals.end(i); ++m) {
      const bool is_synchronizing = arrivals.has(i, kArrivalSynchronizing);
      const std::int64_t from_ns = is_synchronizing ? arrivals.instances.last_ns[i] : arrivals.members.start_ns[m];
      transfer_ns_.push_back(span_ns(from_ns, arrivals.members.end_ns[m]));
      of_kind.push_back(transfer_ns_.back());
    }
  }
  std::map<std::tuple<Coll, std::uint64_t, std::size_t>, std::int64_t> medians;
  for (auto& [kind, transfers_ns] : kinds) medians[kind] = median(transfers_ns);
  for (const std::size_t i : order) alike_transfer_ns_.push_back(medians[kind_of(i)]);
}

void Replay::take_own_times() {
  for (std::size_t i = 0; i < n_instances(); ++i) {
    const std::size_t begin = member_offset_[i];
    const std::size_t end = member_offset_[i + 1];
    double sum_ns = 0;
    for (std::size_t m = begin; m < end; ++m) sum_ns += static_cast<double>(own_ns_[m]);
    const auto n = static_cast<double>(end - begin);
    alike_own_ns_.push_back(static_cast<std::int64_t>(sum_ns / n));
    for (std::size_t m = begin; n > 1 && m < end; ++m) {
      const auto own_ns = static_cast<double>(own_ns_[m]);
      const auto others_ns = static_cast<std::int64_t>((sum_ns - own_ns) / (n - 1));
      std::int64_t& excess_ns = excess_ns_[process_[m]];
      if (own_ns_[m] > others_ns) excess_ns = instant_after(excess_ns, own_ns_[m] - others_ns);
    }
  }
}

std::int64_t Replay::length_of(const std::vector<std::int64_t>& step_end_ns) const {
  std::int64_t sum_ns = 0;
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    const std::int64_t begin_ns = steps_[k].follows ? step_end_ns[k - 1] : steps_[k].begin_ns;
    sum_ns = instant_after(sum_ns, span_ns(begin_ns, step_end_ns[k]));
  }
  return sum_ns;
}

std::int64_t Replay::run(const Alternative& alternative) const {
  std::vector<std::int64_t> end_ns(process_.size());
  std::vector<std::int64_t> start_ns;
  std::vector<std::int64_t> step_end_ns(steps_.size(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t i = 0; i < n_instances(); ++i) {
    const std::size_t begin = member_offset_[i];
    const std::size_t end = member_offset_[i + 1];
    start_ns.resize(end - begin);
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    for (std::size_t m = begin; m < end; ++m) {
      const std::int64_t base_ns = previous_[m] == kNoMember ? base_ns_[m] : end_ns[previous_[m]];
      const std::int64_t own_ns = alternative.is_alike[process_[m]] != 0 ? alike_own_ns_[i] : own_ns_[m];
      start_ns[m - begin] = instant_after(base_ns, own_ns);
      last_ns = std::max(last_ns, start_ns[m - begin]);
    }
    std::int64_t& step_end = step_end_ns[step_[i]];
    for (std::size_t m = begin; m < end; ++m) {
      const std::int64_t from_ns = makes_wait_[i] != 0 ? last_ns : start_ns[m - begin];
      end_ns[m] = instant_after(from_ns, alternative.has_alike_transfers ? alike_transfer_ns_[i] : transfer_ns_[m]);
      step_end = std::max(step_end, end_ns[m]);
    }
  }
  return length_of(step_end_ns);
}

}  // namespace jaxprof::study

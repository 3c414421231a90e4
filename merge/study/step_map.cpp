#include "merge/study/step_map.h"

#include <algorithm>
#include <utility>

namespace jaxprof::study {
namespace {

constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

void add_fault(const StragglerFacts& facts, StepMap& map) {
  const Arrivals& arrivals = facts.arrivals();
  const Fault& fault = facts.fault();
  std::vector<std::uint32_t> rank_of_unit(facts.units().size(), 0);
  for (std::size_t i = 0; i < arrivals.members.call.size(); ++i) rank_of_unit[facts.units().of(i)] = map.ranks.of(i);
  for (std::size_t column = 0; column < map.steps.size(); ++column) {
    if (map.steps[column] >= fault.n_steps) continue;
    for (std::size_t unit = 0; unit < rank_of_unit.size(); ++unit) {
      std::int64_t& sum_ns = map.fault_ns[rank_of_unit[unit] * map.steps.size() + column];
      sum_ns = instant_after(sum_ns, fault.fault_ns[map.steps[column] * fault.n_units + unit]);
    }
  }
}

void add_lateness(const StragglerFacts& facts, StepMap& map) {
  const Arrivals& arrivals = facts.arrivals();
  std::vector<std::size_t> column_of(map.steps.empty() ? 0 : map.steps.back() + std::size_t{1}, kNoColumn);
  for (std::size_t column = 0; column < map.steps.size(); ++column) column_of[map.steps[column]] = column;
  std::vector<std::pair<std::size_t, std::int64_t>> late;  // cell, ns
  for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
    if (facts.judged().is_counted[instance] == 0) continue;
    const auto step = static_cast<std::size_t>(std::max(0, arrivals.instances.step[instance]));
    if (step >= column_of.size() || column_of[step] == kNoColumn) continue;
    for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
      const std::int64_t off_ns = facts.fault().lateness.off_middle_ns[i];
      if (off_ns != kNoLateness) late.emplace_back(map.ranks.of(i) * map.steps.size() + column_of[step], off_ns);
    }
  }
  std::sort(late.begin(), late.end());
  std::vector<std::int64_t> own_ns;
  for (std::size_t i = 0; i < late.size();) {
    const std::size_t cell = late[i].first;
    own_ns.clear();
    for (; i < late.size() && late[i].first == cell; ++i) own_ns.push_back(late[i].second);
    map.off_middle_ns[cell] = median_ns(own_ns);
  }
}

}  // namespace

StepMap map_steps(const runfile::RunTables& run, const StragglerFacts& facts) {
  StepMap map{Subjects(run, facts.arrivals(), By::kRank), facts.steps(), {}, {}};
  map.fault_ns.assign(map.ranks.size() * map.steps.size(), 0);
  map.off_middle_ns.assign(map.ranks.size() * map.steps.size(), kNoLateness);
  add_fault(facts, map);
  add_lateness(facts, map);
  return map;
}

}  // namespace jaxprof::study

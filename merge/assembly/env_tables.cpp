#include "merge/assembly/env_tables.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "agent/contract/rank_identity.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::EnvScope;

constexpr std::uint32_t kNotSet = 0xFFFFFFFFU;

// Where a task runs, as far as a variable may go by it.
struct Spot {
  std::uint32_t task = 0;  // position in RunSources::tasks
  std::uint32_t node = 0;
  std::int64_t local_rank = -1;
};

// What each of the tasks has of one variable, in their order; kNotSet, or the number of a value.
using Values = std::vector<std::uint32_t>;

// The same without those that have none.
struct SetValue {
  std::size_t position = 0;  // of the task in the list of spots
  std::uint32_t value = 0;
};

std::vector<Spot> spots_of(const RunSources& sources) {
  std::vector<Spot> spots;
  for (std::size_t i = 0; i < sources.tasks.size(); ++i) {
    const TaskStart& start = sources.tasks[i].start;
    if (!start.has_environment) continue;
    spots.push_back({static_cast<std::uint32_t>(i), sources.node_of(start.boot_id, start.host), start.local_rank});
  }
  return spots;
}

using ValuesByName = std::map<std::string_view, std::vector<SetValue>>;

ValuesByName values_by_name(const RunSources& sources, const std::vector<Spot>& spots) {
  ValuesByName by_name;
  for (std::size_t i = 0; i < spots.size(); ++i) {
    for (const std::uint32_t variable : sources.tasks[spots[i].task].variables) {
      by_name[sources.variables.at(variable).name].push_back({i, variable});
    }
  }
  return by_name;
}

// True if tasks with the same key have the same value. `has_company` says if any key is that of several tasks.
template <typename KeyOf>
bool goes_by(const std::vector<Spot>& spots, const Values& values, KeyOf&& key_of, bool* has_company) {
  std::map<std::int64_t, std::uint32_t> value_of;
  *has_company = false;
  for (std::size_t i = 0; i < spots.size(); ++i) {
    const auto [known, is_new] = value_of.try_emplace(key_of(spots[i]), values[i]);
    if (known->second != values[i]) return false;
    *has_company = *has_company || !is_new;
  }
  return true;
}

EnvScope scope_of(const std::vector<Spot>& spots, const Values& values) {
  const bool is_alike = std::all_of(values.begin(), values.end(), [&](auto value) { return value == values.front(); });
  if (is_alike) return EnvScope::kAlike;
  const bool is_numbered = std::none_of(spots.begin(), spots.end(), [](const Spot& s) { return s.local_rank < 0; });
  bool has_company = false;
  const auto local_rank = [](const Spot& spot) { return spot.local_rank; };
  // On a single node every variable goes by the local rank.
  if (is_numbered && goes_by(spots, values, local_rank, &has_company) && has_company) return EnvScope::kLocalRank;
  const auto node = [](const Spot& spot) { return static_cast<std::int64_t>(spot.node); };
  return goes_by(spots, values, node, &has_company) ? EnvScope::kNode : EnvScope::kTask;
}

// The tasks with one value: positions in the list of spots, ascending.
struct Group {
  std::uint32_t value = kNotSet;
  std::vector<std::size_t> positions;
};

// Most tasks first, then by first task.
std::vector<Group> groups_of(const Values& values) {
  std::map<std::uint32_t, std::size_t> group_of;
  std::vector<Group> groups;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [group, is_new] = group_of.try_emplace(values[i], groups.size());
    if (is_new) groups.push_back({values[i], {}});
    groups[group->second].positions.push_back(i);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.positions.size() > b.positions.size(); });
  return groups;
}

std::string ranks_of(const RunSources& sources, const std::vector<Spot>& spots, const Group& group) {
  std::vector<std::int32_t> ranks;
  ranks.reserve(group.positions.size());
  for (const std::size_t position : group.positions) {
    ranks.push_back(static_cast<std::int32_t>(sources.tasks[spots[position].task].start.rank));
  }
  return runfile::rank_ranges(std::move(ranks));
}

void add_rows(const RunSources& sources, const std::vector<Spot>& spots, std::string_view name, const Values& values,
              runfile::RunTables* run) {
  runfile::EnvTable& table = run->env;
  const EnvScope scope = scope_of(spots, values);
  const bool is_per_task = is_per_rank_variable(std::string(name).c_str());
  for (const Group& group : groups_of(values)) {
    const std::size_t row = runfile::add_row(table);
    table.name[row] = run->strings.intern(name);
    table.is_set[row] = group.value == kNotSet ? 0 : 1;
    if (group.value != kNotSet && !sources.is_to_be_redacted) {
      table.value[row] = run->strings.intern(sources.variables.at(group.value).value);
    }
    table.n_tasks[row] = static_cast<std::uint32_t>(group.positions.size());
    table.ranks[row] = run->strings.intern(ranks_of(sources, spots, group));
    table.scope[row] = scope;
    table.is_per_task[row] = is_per_task ? 1 : 0;
    for (const std::size_t position : group.positions) run->env_tasks.task.push_back(spots[position].task);
    run->env_task_offset.push_back(run->env_tasks.task.size());
  }
}

void diagnose_dropped(const RunSources& sources, const std::vector<Spot>& spots, std::size_t n_names,
                      Diagnostics* diagnostics) {
  for (const Spot& spot : spots) {
    const TaskStart& start = sources.tasks[spot.task].start;
    if (start.environment_dropped <= 0) continue;
    const auto n = static_cast<std::uint64_t>(start.environment_dropped);
    diagnostics->add(runfile::Severity::kInfo, "env.dropped",
                     {static_cast<std::int32_t>(start.rank), runfile::kNoIndex, spot.node}, n,
                     who(start.rank, start.host) + ": " + counted(n, "variable") +
                         " of its environment did not fit into its record");
  }
  if (n_names <= kMaxVariableNames) return;
  diagnostics->add(runfile::Severity::kInfo, "env.dropped", {}, n_names - kMaxVariableNames,
                   "the tasks' records have " + counted(n_names, "name") +
                       " of variables, which is more than any job has: of them the first " +
                       std::to_string(kMaxVariableNames) + " are in the run file");
}

}  // namespace

void fill_env_tables(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics) {
  const std::vector<Spot> spots = spots_of(sources);
  const ValuesByName by_name = values_by_name(sources, spots);
  std::size_t n_names = 0;
  Values values;
  for (const auto& [name, set_values] : by_name) {
    if (++n_names > kMaxVariableNames) break;
    values.assign(spots.size(), kNotSet);
    for (const SetValue& set : set_values) values[set.position] = set.value;
    add_rows(sources, spots, name, values, run);
  }
  diagnose_dropped(sources, spots, by_name.size(), diagnostics);
}

}  // namespace jaxprof::assembly

// Where a number lacks its task, another task often has a number that it should not have; then this is what is wrong.
#include "merge/assembly/missing_ranks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "merge/assembly/expected_ranks.h"
#include "merge/runfile/rank_ranges.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

bool has_inner_ranks(const RunSources& sources) {
  return std::any_of(sources.tasks.begin(), sources.tasks.end(),
                     [](const rundir::FoundTask& task) { return task.start.has_inner_ranks; });
}

// Ranks that a record tells of. The rank of a task that starts ranks of its own is the number of a node.
std::set<std::int64_t> recorded_ranks(const RunSources& sources) {
  std::set<std::int64_t> ranks;
  for (const rundir::FoundTask& task : sources.tasks) {
    if (!task.start.has_inner_ranks) ranks.insert(task.start.rank);
    if (!task.end) continue;
    for (const PublishedProcess& process : task.end->processes) ranks.insert(process.rank);
  }
  for (const SourceProcess& process : sources.processes) ranks.insert(process.rank);
  return ranks;
}

// Tasks under numbers that cannot be theirs.
class MisnumberedTasks {
 public:
  MisnumberedTasks(const RunSources& sources, std::int32_t world_size) : world_size_(world_size) {
    for (const rundir::FoundTask& task : sources.tasks) {
      const std::int64_t rank = task.start.rank;
      if (task.start.has_inner_ranks) continue;
      if (rank < 0) {
        ++n_unknown_;
      } else if (rank >= world_size) {
        beyond_.push_back(static_cast<std::int32_t>(rank));
      } else {
        ++n_tasks_[rank];
      }
    }
  }

  // Do they tell why `n_missing` numbers have no task?
  bool explain(std::size_t n_missing) const {
    std::size_t n_tasks = n_unknown_;
    for (const auto& [rank, n] : n_tasks_) n_tasks += n - 1;
    return !beyond_.empty() || n_tasks >= n_missing;
  }

  std::string words() const {
    std::vector<std::string> parts;
    if (!beyond_.empty()) {
      parts.push_back(runfile::rank_ranges(beyond_) + (beyond_.size() == 1 ? " is" : " are") +
                      " beyond the world size of " + std::to_string(world_size_));
    }
    if (n_unknown_ > 0) parts.push_back(counted(n_unknown_, "task") + " of unknown rank");
    for (const auto& [rank, n] : n_tasks_) {
      if (n > 1) parts.push_back(std::to_string(n) + " tasks have rank " + std::to_string(rank));
    }
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
  }

 private:
  std::int32_t world_size_;
  std::size_t n_unknown_ = 0;
  std::vector<std::int32_t> beyond_;
  std::map<std::int64_t, std::size_t> n_tasks_;  // by rank
};

std::string reason_of(const RunSources& sources, std::int32_t world_size, std::size_t n_missing) {
  const std::string fact = "left no record in the run directory: ";
  if (has_inner_ranks(sources)) {
    return fact +
           "of ranks that the wrapped command itself starts, only those on the wrapper's node are recorded, and only "
           "if they use NVTX, CUDA or NCCL; a wrapper for each rank (`mpirun … jaxprof-exec …`) reaches all nodes";
  }
  const MisnumberedTasks misnumbered(sources, world_size);
  if (misnumbered.explain(n_missing)) return fact + "no task has this number, and " + misnumbered.words();
  return fact + "it could not be reached, or the task never started";
}

}  // namespace

void add_missing_ranks(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics) {
  const auto world_size = static_cast<std::int32_t>(run->attributes.world_size);
  const std::set<std::int64_t> recorded = recorded_ranks(sources);
  std::uint64_t n_unknown = 0;
  std::vector<std::int32_t> missing;
  for (std::int32_t rank = 0; rank < world_size; ++rank) {
    if (recorded.count(rank) != 0) continue;
    const Expectation expected = is_expected(run->attributes.selection, rank, world_size);
    if (expected == Expectation::kUnknown) ++n_unknown;
    if (expected == Expectation::kYes) missing.push_back(rank);
  }
  const std::string reason = missing.empty() ? "" : reason_of(sources, world_size, missing.size());
  for (const std::int32_t rank : missing) {
    runfile::TaskTable& table = run->tasks;
    const std::size_t row = runfile::add_row(table);
    table.task[row] = static_cast<std::uint32_t>(row);
    table.rank[row] = rank;
    table.state[row] = runfile::TaskState::kMissingTask;
    table.reason[row] = run->strings.intern(reason);
    diagnostics->add(runfile::Severity::kError, "rank.missing", {rank, runfile::kNoIndex, runfile::kNoIndex}, 1,
                     "rank " + std::to_string(rank) + ": " + reason);
  }
  if (n_unknown > 0) {
    diagnostics->add(
        runfile::Severity::kInfo, "rank.unknown", {}, n_unknown,
        std::to_string(n_unknown) + " of " + std::to_string(world_size) +
            " ranks left no record; whether the selection or a loss is the reason cannot be told from here");
  }
}

}  // namespace jaxprof::assembly

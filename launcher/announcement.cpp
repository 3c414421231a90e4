#include "launcher/announcement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agent/contract/rank_selection.h"
#include "launcher/gpu_account.h"
#include "launcher/tasks_per_node.h"
#include "launcher/window_account.h"

namespace jaxprof::launcher {
namespace {

// Decides for one other rank of the job, of which only some numbers are known. Slurm's variables that go with these
// numbers are given to conditions too; all others are unknown.
Selected decide_for(const RankSelection& selection, const RankIdentity& rank) {
  std::vector<std::string> entries;
  const auto add = [&entries](const char* name, std::int32_t value) {
    if (value >= 0) entries.push_back(std::string(name) + "=" + std::to_string(value));
  };
  if (rank.launcher == Launcher::kSlurm) {
    add("SLURM_PROCID", rank.rank);
    add("SLURM_LOCALID", rank.local_rank);
    add("SLURM_NODEID", rank.node_index);
    add("SLURM_STEP_NUM_TASKS", rank.world_size);
    add("SLURM_NTASKS", rank.world_size);
  }
  std::vector<const char*> pointers;
  for (const std::string& entry : entries) pointers.push_back(entry.c_str());
  pointers.push_back(nullptr);
  return is_selected(selection, rank, Env(pointers.data())).selected;
}

// Counts over ranks of which only the number is known.
std::optional<std::int64_t> count_by_rank(const RankSelection& selection, RankIdentity rank) {
  rank.local_rank = -1;
  rank.node_index = -1;
  std::int64_t count = 0;
  for (std::int32_t i = 0; i < rank.world_size; ++i) {
    rank.rank = i;
    const Selected selected = decide_for(selection, rank);
    if (selected == Selected::kUnknown) return std::nullopt;
    count += selected == Selected::kYes ? 1 : 0;
  }
  return count;
}

// Counts over places: how many tasks a node has is known, not which.
std::optional<std::int64_t> count_by_place(const RankSelection& selection, RankIdentity rank,
                                           const std::vector<std::int32_t>& tasks_per_node) {
  rank.rank = -1;
  std::int64_t count = 0;
  for (std::size_t node = 0; node < tasks_per_node.size(); ++node) {
    rank.node_index = static_cast<std::int32_t>(node);
    for (rank.local_rank = 0; rank.local_rank < tasks_per_node[node]; ++rank.local_rank) {
      const Selected selected = decide_for(selection, rank);
      if (selected == Selected::kUnknown) return std::nullopt;
      count += selected == Selected::kYes ? 1 : 0;
    }
  }
  return count;
}

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

// "3 of 4 ranks", "60 processes", "4 ranks and 2 processes without a rank": only what said its rank is counted as one.
std::string describe_written(std::int64_t n_ranks, std::int64_t n_without_rank, std::optional<std::int64_t> expected) {
  if (!expected && n_ranks == 0) return counted(n_without_rank, "process", "processes");
  if (expected && *expected < n_ranks) expected.reset();  // it was no count of these ranks
  std::string text = expected ? fmt::format("{} of {} ranks", n_ranks, *expected) : counted(n_ranks, "rank", "ranks");
  if (n_without_rank > 0) text += " and " + counted(n_without_rank, "process", "processes") + " without a rank";
  return text;
}

}  // namespace

std::optional<std::int64_t> count_selected_ranks(const RankSelection& selection, const RankIdentity& own,
                                                 const Env& env) {
  if (own.world_size <= 0) return std::nullopt;
  if (selection.selects_all()) return own.world_size;
  if (const auto count = count_by_rank(selection, own)) return count;
  const std::vector<std::int32_t> tasks = find_tasks_per_node(own, env);
  return tasks.empty() ? std::nullopt : count_by_place(selection, own, tasks);
}

std::string first_line(const Options& options, const LaunchPlan& plan, const Env& env) {
  const std::string opening = describe_opening(options.recording.window);
  const std::string output = ", output " + plan.directory + "/" + (opening.empty() ? "" : ", ") + opening +
                             (plan.unmatched_numbers.empty() ? "" : "; ") + plan.unmatched_numbers;
  const std::string selected = options.selection_words.empty() ? "all" : options.selection_words;
  if (options.has_inner_ranks) {
    return fmt::format("ranks started by {} decide for themselves ({}){}", options.command.front(), selected, output);
  }
  if (const auto count = count_selected_ranks(options.selection, plan.rank, env)) {
    return fmt::format("{} of {} ranks traced{}", *count, plan.rank.world_size, output);
  }
  if (plan.rank.world_size > 0) {
    return fmt::format("of {} ranks, those of {} are traced{}", plan.rank.world_size, selected, output);
  }
  if (plan.rank.is_known()) return fmt::format("ranks traced: {}; their number is not known{}", selected, output);
  if (!options.selection_words.empty()) {
    return fmt::format("no launcher that numbers ranks was found, the process decides ({}){}", selected, output);
  }
  return fmt::format("one process traced, no launcher that numbers ranks was found{}", output);
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ' ');
  }
  return digits;
}

std::string readable_bytes(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB"}) {
    if (value < 999.95) break;
    value /= 1000;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

std::string last_line(const std::vector<TaskEnd>& ends, std::optional<std::int64_t> expected_ranks,
                      const std::string& directory, const WindowPlan& window) {
  std::set<std::int64_t> ranks;
  std::int64_t n_without_rank = 0, events = 0, dropped = 0, bytes = 0, kept = 0, failed = 0, n_processes = 0;
  for (const TaskEnd& end : ends) {
    for (const PublishedProcess& process : end.processes) {
      ++n_processes;
      events += process.events;
      dropped += process.dropped;
      kept += process.kept.empty() ? 0 : 1;
      failed += process.state == "failed" ? 1 : 0;
      if (process.spool.empty()) continue;
      bytes += process.bytes;
      if (process.rank >= 0) {
        ranks.insert(process.rank);
      } else {
        ++n_without_rank;
      }
    }
  }
  std::string line = describe_written(static_cast<std::int64_t>(ranks.size()), n_without_rank, expected_ranks) +
                     fmt::format(" written, {} events, {} dropped; {}/ ({})", grouped(events), grouped(dropped),
                                 directory, readable_bytes(bytes));
  if (std::none_of(ends.begin(), ends.end(), [](const TaskEnd& end) { return end.pid > 0; })) {
    line += "; the command could not be started";
  } else if (n_processes == 0) {
    const auto noted = std::find_if(ends.begin(), ends.end(), [](const TaskEnd& end) { return !end.notes.empty(); });
    line += "; " + (noted != ends.end() ? noted->notes.front() : "no process was recorded");
  }
  line += describe_windows(ends, window);
  line += describe_missing_gpus(ends);
  if (failed > 0) line += fmt::format("; {} not recorded", counted(failed, "process", "processes"));
  if (kept > 0) line += fmt::format("; {} left on their nodes", counted(kept, "spool", "spools"));
  return line;
}

}  // namespace jaxprof::launcher

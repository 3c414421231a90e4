#include "merge/program/choose_run.h"

#include <algorithm>

#include "merge/assembly/diagnostics.h"

namespace jaxprof::merge {
namespace {

using assembly::counted;
using rundir::FoundRun;
using rundir::RunDirectory;

tl::unexpected<Error> no_spool_readable(const RunDirectory& directory) {
  const std::size_t others = directory.unreadable_spools.size() - 1;
  return fail(ErrorCode::kInputUnreadable, "no spool in " + directory.path +
                                               " can be read: " + directory.unreadable_spools.front().reason +
                                               (others > 0 ? " (and " + std::to_string(others) + " more)" : ""));
}

tl::unexpected<Error> nothing_left(const RunDirectory& directory, const FoundRun& run) {
  return fail(
      ErrorCode::kInputUnreadable,
      directory.path + " holds nothing of run " + run.run_id + ": " +
          (run.unreadable_records.empty() ? "no task record and no spool" : run.unreadable_records.front().reason));
}

// Nodes were observed, and no task was traced: as by jaxprof-netsampler --out.
bool is_of_nodes(const FoundRun& run) {
  return run.tasks.empty() && run.spools.empty() && !run.node_spools.empty();
}

// Position of the run that is meant when nobody says; none if that cannot be told.
std::size_t only_run(const RunDirectory& directory) {
  if (directory.runs.size() == 1) return 0;
  const auto has_spools = [](const FoundRun& run) { return !run.spools.empty(); };
  // A spool that was copied here from elsewhere has no run of its own here.
  const auto has_tasks_and_spools = [](const FoundRun& run) { return !run.tasks.empty() && !run.spools.empty(); };
  const auto is_at_home = std::find_if(directory.runs.begin(), directory.runs.end(), has_tasks_and_spools);
  if (std::count_if(directory.runs.begin(), directory.runs.end(), has_tasks_and_spools) == 1) {
    return static_cast<std::size_t>(is_at_home - directory.runs.begin());
  }
  if (std::count_if(directory.runs.begin(), directory.runs.end(), has_spools) != 1) return directory.runs.size();
  return static_cast<std::size_t>(std::find_if(directory.runs.begin(), directory.runs.end(), has_spools) -
                                  directory.runs.begin());
}

std::string note_on_others(const RunDirectory& directory, const std::string& chosen) {
  std::string others;
  std::size_t count = 0;
  for (const FoundRun& run : directory.runs) {
    if (run.run_id == chosen || !run.spools.empty() || is_of_nodes(run)) continue;  // what has spools is a finding
    others += (others.empty() ? "" : ", ") + run.run_id;
    ++count;
  }
  if (count == 0) return {};
  return (count == 1 ? "run " : "runs ") + others + " left no spool here: replaced or lost; this is run " + chosen;
}

}  // namespace

Result<ChosenRun> choose_run(RunDirectory directory, const std::string& wanted) {
  if (directory.runs.empty()) return no_spool_readable(directory);
  const bool is_named = !wanted.empty();
  const auto named = std::find_if(directory.runs.begin(), directory.runs.end(),
                                  [&wanted](const FoundRun& run) { return run.run_id == wanted; });
  const std::size_t position =
      is_named ? static_cast<std::size_t>(named - directory.runs.begin()) : only_run(directory);
  if (position == directory.runs.size()) {
    return fail(ErrorCode::kUsage,
                is_named ? "no run " + wanted + " in " + directory.path + "; there are " + list_runs(directory)
                         : directory.path + " holds several runs; choose one with --run: " + list_runs(directory));
  }
  ChosenRun chosen;
  FoundRun& run = directory.runs[position];
  if (run.tasks.empty() && run.spools.empty() && run.node_spools.empty()) return nothing_left(directory, run);
  if (directory.runs.size() == 1) {
    run.unreadable_records.insert(run.unreadable_records.end(), directory.unreadable_spools.begin(),
                                  directory.unreadable_spools.end());
  } else if (!is_named) {
    chosen.note = note_on_others(directory, run.run_id);
    for (const FoundRun& other : directory.runs) {
      if (other.run_id == run.run_id) continue;
      run.foreign_spools.insert(run.foreign_spools.end(), other.spools.begin(), other.spools.end());
    }
  }
  chosen.run = std::move(run);
  return chosen;
}

std::string list_runs(const RunDirectory& directory) {
  std::string text;
  for (const FoundRun& run : directory.runs) {
    text += (text.empty() ? "" : ", ") + run.run_id + " (";
    text += is_of_nodes(run) ? counted(run.node_spools.size(), "spool") + " of nodes"
                             : counted(run.tasks.size(), "task") + ", " + counted(run.spools.size(), "spool");
    text += ")";
  }
  return text;
}

}  // namespace jaxprof::merge

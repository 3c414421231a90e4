#include "launcher/collect/collect_task.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/base/file_lock.h"
#include "agent/base/process_presence.h"
#include "agent/contract/local_layout.h"
#include "agent/contract/run_layout.h"
#include "launcher/collect/growth_watch.h"
#include "launcher/slot_text.h"
#include "launcher/spool_collection.h"

namespace jaxprof::launcher {
namespace {

constexpr std::size_t kMostRecordBytes = 16 << 20;

Collected state_without_lock(const FileLock& lock, const LeftTask& task) {
  Collected result;
  if (lock.holder < 0) {
    result.state = Collected::State::kGone;
  } else if (lock.holder == 0 || lock.holder == task.page->plan.wrapper_pid) {
    result.state = Collected::State::kRunning;
  } else {
    result.state = Collected::State::kBusy;
    result.reason = "process " + std::to_string(lock.holder) + " collects it";
  }
  return result;
}

bool is_spool_of_folder(const std::string& name) {
  return name.ends_with(run_layout::kSpoolSuffix);
}

Collected count_what_lies_there(const LeftTask& task) {
  Collected result;
  for (const std::string& name : list_directory(task.start.spool_directory)) {
    struct stat status {};
    const std::string path = task.start.spool_directory + "/" + name;
    if (!is_spool_of_folder(name) || stat(path.c_str(), &status) != 0) continue;
    ++result.spools;
    result.bytes += status.st_size;
  }
  return result;
}

// When the task's last process wrote last, CLOCK_REALTIME: that is how long it lived, as far as anybody knows.
std::int64_t last_written_ns(const LeftTask& task) {
  std::int64_t last_ns = task.start.realtime_ns;
  for (const std::string& name : list_directory(task.start.spool_directory)) {
    struct stat status {};
    if (!is_spool_of_folder(name) || stat((task.start.spool_directory + "/" + name).c_str(), &status) != 0) continue;
    last_ns = std::max<std::int64_t>(last_ns, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
  }
  return std::min(last_ns, clock_ns(CLOCK_REALTIME));
}

SpoolSource source_of(const std::string& directory, const LeftTask& task, const GrowthWatch& watch) {
  SpoolSource source;
  source.page = task.page;
  source.spool_directory = task.start.spool_directory;
  source.run_directory = directory;
  source.host = task.start.host;
  source.claim_rules = {task.start.run_id, task.start.boot_id, task.start.can_replace_files};
  struct stat part {};
  const std::string& stem = task.start.stem;
  if (is_plain_name(stem) && stat(run_layout::part_spool_path(directory, stem).c_str(), &part) == 0) {
    const bool is_there = access(run_layout::spool_path(directory, stem).c_str(), F_OK) == 0;
    source.claim = OutputClaim{stem, is_there && task.start.can_replace_files};
  }
  const bool is_seen = task.page->plan.pid_namespace == own_pid_namespace();
  source.is_present = [&task, &watch, is_seen](const ProcessSlot& slot) {
    if (!task.is_of_this_boot) return false;
    return is_process_present(slot.pid, slot.start_ticks) || (!is_seen && watch.has_grown(slot));
  };
  source.ended_realtime_ns = last_written_ns(task);
  return source;
}

std::optional<TaskEnd> read_end(const std::string& path) {
  const auto text = read_small_file(path, kMostRecordBytes);
  auto end = text ? parse_task_end(*text) : fail(text.error().code, "");
  return end ? std::optional(std::move(*end)) : std::nullopt;
}

TaskEnd end_of_killed(const LeftTask& task, const SpoolSource& source) {
  TaskEnd end;
  end.task = task.start.task;
  end.realtime_ns = source.ended_realtime_ns.value_or(0);
  end.is_collected = true;
  return end;
}

// A task has one end record. Where its wrapper wrote one, in the run directory or at least on the node, what has
// changed since is put in, and its account of the job's end stays.
Status write_end(const LeftTask& task, const SpoolSource& source, std::vector<PublishedProcess> processes,
                 const std::vector<std::string>& notes) {
  const std::string path = run_layout::task_end_path(task.state_directory, task.start.task);
  std::optional<TaskEnd> end = read_end(path);
  const Publish how = end ? Publish::kReplace : Publish::kIfAbsent;
  if (!end) {
    end = read_end(run_layout::kept_end_path(task.start.spool_directory));
    if (!end || end->task != task.start.task) end = end_of_killed(task, source);
    // A wrapper that had looked at its processes has said what there was to say.
    if (end->processes.empty() && end->notes.empty()) end->notes = notes;
    if (end->is_collected) {
      end->notes.push_back("its wrapper was killed; what it left on " + task.start.host + " was collected");
    }
  }
  for (PublishedProcess& process : processes) {
    const auto found =
        std::find_if(end->processes.begin(), end->processes.end(), [&process](const PublishedProcess& other) {
          return other.slot == process.slot && (process.slot >= 0 || other.pid == process.pid);
        });
    if (found == end->processes.end()) {
      end->processes.push_back(std::move(process));
    } else if (!found->kept.empty()) {
      *found = std::move(process);
    }
  }
  auto written = write_atomic_file(path, to_json(*end), how);
  if (!written) return tl::unexpected(std::move(written.error()));
  return {};
}

// Removes what a task's folder holds by its own files' names, the lock last; anything else stays, and the folder then.
void remove_folder(const std::string& folder) {
  for (const std::string& name : list_directory(folder)) {
    const bool is_ours =
        name == run_layout::kSessionName || name.starts_with(run_layout::kKeptEndName) || name.starts_with("slot");
    if (is_ours) unlink((folder + "/" + name).c_str());
    if (name.starts_with(kUnattachedPrefix)) rmdir((folder + "/" + name).c_str());
  }
  unlink(run_layout::owner_path(folder).c_str());
  rmdir(folder.c_str());
}

Collected sum_up(const std::vector<PublishedProcess>& processes) {
  Collected result;
  for (const PublishedProcess& process : processes) {
    result.bytes += process.bytes;
    if (!process.spool.empty()) {
      ++result.spools;
      result.saved += process.state == "saved" ? 1 : 0;
    } else if (!process.kept.empty()) {
      result.reason += (result.reason.empty() ? "" : "; ") + process.kept + ": " + process.note;
    }
  }
  return result;
}

// A memory file whose spool somebody removed: nothing can be made of it here, but it is not ours to throw away. "" if
// there is none.
std::string find_orphaned_rings(const LeftTask& task, const std::vector<PublishedProcess>& processes) {
  for (const PublishedProcess& process : processes) {
    if (process.slot < 0) continue;
    const ProcessSlot& slot = task.page->slots[process.slot];
    const SlotState state = slot.state.load();
    const std::string rings = text_of(slot.ring_name), spool = text_of(slot.spool_name);
    if ((state != SlotState::kRecording && state != SlotState::kEnded) || !is_plain_name(rings)) continue;
    const std::string folder = task.start.spool_directory + "/";
    if (access((folder + rings).c_str(), F_OK) != 0 || access((folder + spool).c_str(), F_OK) == 0) continue;
    return folder + rings + " is left of process " + std::to_string(process.pid) +
           ", whose spool was removed: remove the folder if it is not wanted";
  }
  return {};
}

}  // namespace

std::string name_of(const LeftTask& task) {
  const std::string who =
      task.start.rank >= 0 ? "rank " + std::to_string(task.start.rank) : "process " + std::to_string(task.start.pid);
  return who + " on " + task.start.host;
}

Collected collect_task(const std::string& directory, const LeftTask& task, bool is_dry_run) {
  Collected failed;
  failed.state = Collected::State::kFailed;
  failed.reason = task.fault;
  if (task.page == nullptr) return failed;
  const GrowthWatch watch(*task.page);
  const auto lock =
      try_lock(run_layout::owner_path(task.start.spool_directory), is_dry_run ? Missing::kLeave : Missing::kCreate);
  if (!lock) {
    failed.reason = lock.error().message;
    return failed;
  }
  if (!lock->is_held()) return state_without_lock(*lock, task);
  if (is_dry_run) return count_what_lies_there(task);

  const SpoolSource source = source_of(directory, task, watch);
  SpoolCollection spools(source);
  std::vector<PublishedProcess> processes = spools.finish([] { return false; });
  const std::vector<std::string> notes = spools.notes();
  Collected result = sum_up(processes);
  if (const std::string rings = find_orphaned_rings(task, processes); !rings.empty()) {
    result.reason += (result.reason.empty() ? "" : "; ") + rings;
  }
  const bool has_living = std::any_of(processes.begin(), processes.end(), [&](const PublishedProcess& process) {
    if (process.slot < 0) return false;
    const ProcessSlot& slot = task.page->slots[process.slot];
    return !process.kept.empty() && slot.state.load() != SlotState::kEnded && source.is_present(slot);
  });
  if (has_living) {
    result.state = Collected::State::kGoesOn;  // its end record is for whoever sees its end
    return result;
  }
  if (auto written = write_end(task, source, std::move(processes), notes); !written) {
    result.reason += (result.reason.empty() ? "" : "; ") + written.error().message;
  }
  if (!result.reason.empty()) {
    result.state = Collected::State::kFailed;
    return result;
  }
  remove_folder(task.start.spool_directory);
  return result;
}

}  // namespace jaxprof::launcher

#include "launcher/output_claim.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/base/unique_fd.h"
#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "agent/contract/task_record.h"

namespace jaxprof::launcher {
namespace {

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

// True if a task of the run below `state_directory` wrote, or was going to write, STEM; `*is_over` says if it ended.
bool is_written_by(const std::string& state_directory, const std::string& task, const std::string& stem,
                   const ClaimRules& rules, bool* is_over) {
  const auto start_text = read_small_file(run_layout::task_start_path(state_directory, task));
  const auto start = start_text ? parse_task_start(*start_text) : fail(start_text.error().code, "");
  const auto end_text = read_small_file(run_layout::task_end_path(state_directory, task));
  const auto end = end_text ? parse_task_end(*end_text) : fail(end_text.error().code, "");
  bool is_writer = start && start->stem == stem;
  if (end) {
    const std::string file = stem + run_layout::kSpoolSuffix;
    is_writer = is_writer || std::any_of(end->processes.begin(), end->processes.end(),
                                         [&file](const PublishedProcess& p) { return p.spool == file; });
  }
  // Killed together with its wrapper, on this node: gone for certain. On another node nobody can tell.
  const bool is_dead_here = start && !rules.boot_id.empty() && start->boot_id == rules.boot_id &&
                            process_start_ticks(static_cast<pid_t>(start->pid)) == 0;
  *is_over = end.has_value() || is_dead_here;
  return is_writer;
}

// May a file of this name be replaced? Every run that has to do with it must be another one and over. A finished file
// that no run knows is somebody's result of old; an unfinished one may be being written.
bool is_replaceable(const std::string& directory, const std::string& stem, const ClaimRules& rules) {
  if (!rules.can_replace_files) return false;
  bool has_writer = false;
  for (const std::string& folder : list_directory(directory)) {
    if (!folder.starts_with(run_layout::kRunPrefix)) continue;
    const std::string state_directory = directory + "/" + folder;
    for (const std::string& file : list_directory(state_directory)) {
      const std::string task = run_layout::task_of_start_record(file);
      bool is_over = false;
      if (task.empty() || !is_written_by(state_directory, task, stem, rules, &is_over)) continue;
      if (!is_over || folder == run_layout::kRunPrefix + rules.run_id) return false;
      has_writer = true;
    }
  }
  return has_writer || !exists(run_layout::part_spool_path(directory, stem));
}

}  // namespace

Result<std::optional<OutputClaim>> claim_output(const std::string& directory, const std::string& stem,
                                                const ClaimRules& rules) {
  const std::string final_path = run_layout::spool_path(directory, stem);
  const std::string part_path = run_layout::part_spool_path(directory, stem);
  OutputClaim claim{stem, false};
  if (exists(final_path) || exists(part_path)) {
    if (!is_replaceable(directory, stem, rules)) return std::nullopt;
    claim.is_replacing = true;
    unlink(part_path.c_str());
  }
  UniqueFd part(open(part_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!part) {
    if (errno == EEXIST) return std::nullopt;
    return fail_errno(ErrorCode::kOutputFailed, "cannot create " + part_path);
  }
  // Another task may have finished the file between the look and the claim.
  if (!claim.is_replacing && exists(final_path)) {
    unlink(part_path.c_str());
    return std::nullopt;
  }
  return claim;
}

bool is_stem_of_run(const std::string& state_directory, const std::string& stem) {
  for (const std::string& file : list_directory(state_directory)) {
    if (run_layout::task_of_start_record(file).empty()) continue;
    const auto text = read_small_file(state_directory + "/" + file);
    const auto start = text ? parse_task_start(*text) : fail(text.error().code, "");
    if (start && start->stem == stem) return true;
  }
  return false;
}

void release_claim(const std::string& directory, const OutputClaim& claim) {
  unlink(run_layout::part_spool_path(directory, claim.stem).c_str());
}

}  // namespace jaxprof::launcher

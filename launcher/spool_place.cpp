#include "launcher/spool_place.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "agent/contract/run_layout.h"
#include "agent/contract/session_page.h"
#include "launcher/announcement.h"
#include "launcher/mount.h"

namespace jaxprof::launcher {
namespace {

// Beside the session page: rings of some threads, and what a first minute writes.
constexpr std::uint64_t kLeastRoomBytes = sizeof(SessionPage) + (16 << 20);
constexpr const char* kOwnVariable = "JAXPROF_TMPDIR";
constexpr std::int64_t kLimitBytes = std::int64_t{4} << 30;
constexpr std::int64_t kLimitInMemoryBytes = std::int64_t{512} << 20;

struct Candidate {
  std::string source;
  std::string folder;
  bool is_named_for_us = false;  // by the user, for spools
};

std::vector<Candidate> candidates(const std::string& given, const Env& env) {
  std::vector<Candidate> found;
  if (!given.empty()) found.push_back({"--spool", given, true});
  for (const char* variable : {kOwnVariable, "SLURM_TMPDIR", "TMPDIR"}) {
    const char* value = env.get(variable);
    if (value != nullptr && *value != '\0') found.push_back({variable, value, variable == kOwnVariable});
  }
  found.push_back({"the default", "/tmp", false});
  return found;
}

std::string absolute_folder(const std::string& folder) {
  std::error_code ignored;
  std::string absolute = std::filesystem::absolute(folder, ignored).string();
  while (absolute.size() > 1 && absolute.back() == '/') absolute.pop_back();
  return absolute;
}

std::string readable(std::uint64_t bytes) {
  return readable_bytes(static_cast<std::int64_t>(bytes));
}

Result<SpoolPlace> examine(const std::string& folder) {
  const auto refuse = [&folder](const std::string& why) { return fail(ErrorCode::kNodeNotReady, folder + why); };
  SpoolPlace place;
  place.base = folder;
  const auto mount = mount_of(folder);
  if (!mount) return tl::unexpected(mount.error());
  place.file_system = mount->type;
  const Storage storage = storage_of(mount->type);
  if (storage == Storage::kShared) {
    return refuse(" is on " + mount->type + " (" + mount->source + "), not on a disk of this node");
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) return fail_errno(ErrorCode::kNodeNotReady, folder);
  place.is_in_memory = storage == Storage::kMemory;
  if (place.is_in_memory) {
    place.notes.push_back(folder + " is in memory (" + mount->type + "): spools count against the job's memory");
  }
  place.room = disk_room_of(folder.c_str());
  if (!place.room) return place;
  const std::uint64_t needed = kLeastRoomBytes + place.room->reserve_bytes();
  if (place.room->free_bytes < needed) {
    return refuse(fmt::format(" has {} free of {}, and {} are needed, {} of which stay free for the job",
                              readable(place.room->free_bytes), readable(place.room->size_bytes), readable(needed),
                              readable(place.room->reserve_bytes())));
  }
  return place;
}

}  // namespace

std::int64_t SpoolPlace::spool_limit_bytes(std::optional<std::int64_t> given) const {
  return given.value_or(is_in_memory ? kLimitInMemoryBytes : kLimitBytes);
}

Result<SpoolPlace> find_spool_place(const std::string& given, const Env& env) {
  std::vector<std::string> passed_by;
  for (const Candidate& candidate : candidates(given, env)) {
    auto place = examine(absolute_folder(candidate.folder));
    if (place) {
      place->notes.insert(place->notes.begin(), passed_by.begin(), passed_by.end());
      return place;
    }
    passed_by.push_back("no spools by " + candidate.source + ": " + place.error().message);
    if (candidate.is_named_for_us) break;
  }
  std::string text;
  for (const std::string& reason : passed_by) text += (text.empty() ? "" : "; ") + reason;
  return fail(ErrorCode::kNodeNotReady, text + "; --spool names a folder on the node's own disk");
}

std::string describe(const SpoolPlace& place, std::int64_t limit_bytes) {
  std::string text = place.base + " (" + (place.file_system.empty() ? "unknown file system" : place.file_system);
  if (place.room) {
    text += ", " + readable(place.room->free_bytes) + " free of " + readable(place.room->size_bytes);
  }
  return text + "), " + (limit_bytes > 0 ? "at most " + readable_bytes(limit_bytes) : "without a limit");
}

Result<std::string> make_spool_directory(const std::string& base, const Node& node, const LaunchPlan& plan) {
  const std::string path = run_layout::task_spool_directory(base, node.uid, plan.run.run_id, plan.task, node.pid);
  // A leftover of an earlier process with this pid, or another user's trap: never taken over, passed by.
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::string candidate = attempt == 0 ? path : path + "." + std::to_string(attempt);
    if (mkdir(candidate.c_str(), 0700) == 0) return candidate;
    if (errno != EEXIST) break;
  }
  return fail_errno(ErrorCode::kNodeNotReady, "cannot make the spool folder " + path);
}

}  // namespace jaxprof::launcher

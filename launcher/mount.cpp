#include "launcher/mount.h"

#include <fcntl.h>

#include <algorithm>
#include <array>

#include "agent/base/atomic_file.h"
#include "agent/base/parse_number.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {
namespace {

// mountinfo of a node with many containers has hundreds of kilobytes.
constexpr std::size_t kMaxTableBytes = 16 << 20;

// Takes the text up to the next `end`, or all of it, off `text`.
std::string_view take(std::string_view* text, char end) {
  const std::size_t length = std::min(text->find(end), text->size());
  const std::string_view field = text->substr(0, length);
  text->remove_prefix(std::min(length + 1, text->size()));
  return field;
}

bool is_octal(char digit) {
  return digit >= '0' && digit <= '7';
}

// Blanks, tabs, line ends and backslashes are written as "\040".
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_escape = text[at] == '\\' && at + 3 < text.size() && text[at + 1] <= '3' && is_octal(text[at + 1]) &&
                           is_octal(text[at + 2]) && is_octal(text[at + 3]);
    if (!is_escape) {
      plain += text[at];
      continue;
    }
    plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 + (text[at + 3] - '0'));
    at += 3;
  }
  return plain;
}

// "36 35 98:0 /root /point options [optional fields …] - type source super-options"
Mount parse_line(std::string_view line) {
  Mount mount;
  for (int field = 0; field < 3; ++field) take(&line, ' ');
  mount.point = unescape(take(&line, ' '));
  while (!line.empty() && take(&line, ' ') != "-") {
  }
  mount.type = unescape(take(&line, ' '));
  mount.source = unescape(take(&line, ' '));
  return mount;
}

}  // namespace

Storage storage_of(std::string_view type) {
  constexpr auto kShared = std::to_array<std::string_view>(
      {"nfs",    "nfs4",         "cifs",      "smb3",     "smbfs", "lustre",   "gpfs",  "mmfs",
       "beegfs", "beegfs_nodev", "ceph",      "afs",      "9p",    "panfs",    "pvfs2", "wekafs",
       "fhgfs",  "ocfs2",        "glusterfs", "orangefs", "gfs2",  "virtiofs", "coda",  "fuse"});
  if (type == "tmpfs" || type == "ramfs") return Storage::kMemory;
  if (type == "fuse.fuse-overlayfs") return Storage::kNode;
  if (type.starts_with("fuse.")) return Storage::kShared;
  return std::find(kShared.begin(), kShared.end(), type) != kShared.end() ? Storage::kShared : Storage::kNode;
}

std::optional<std::int64_t> parse_mount_id(std::string_view fdinfo) {
  constexpr std::string_view kKey = "mnt_id:";
  while (!fdinfo.empty()) {
    std::string_view line = take(&fdinfo, '\n');
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t", kKey.size()), line.size()));
    return parse_int64(line);
  }
  return std::nullopt;
}

std::optional<Mount> find_mount(std::string_view mountinfo, std::int64_t id) {
  while (!mountinfo.empty()) {
    std::string_view line = take(&mountinfo, '\n');
    if (parse_int64(take(&line, ' ')) != id) continue;
    Mount mount = parse_line(line);
    if (mount.type.empty()) return std::nullopt;
    return mount;
  }
  return std::nullopt;
}

Result<Mount> mount_of(const std::string& folder) {
  // Behind the slash, so that it is the folder on the mount and not the one that an automounter watches.
  const UniqueFd fd(open((folder + "/.").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return fail_errno(ErrorCode::kNodeNotReady, folder);
  const auto fdinfo = read_small_file("/proc/self/fdinfo/" + std::to_string(fd.get()), 4096);
  const auto id = fdinfo ? parse_mount_id(*fdinfo) : std::nullopt;
  const auto table = read_small_file("/proc/self/mountinfo", kMaxTableBytes);
  if (!id || !table) return Mount{};
  return find_mount(*table, *id).value_or(Mount{});
}

}  // namespace jaxprof::launcher

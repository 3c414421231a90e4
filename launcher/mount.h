// Which file system a folder is on. A spool on shared storage would bring back what spools are there to avoid: a server
// that all ranks wait for, and a write that can hang. statfs(2) tells a number that many of them share (FUSE) or that
// no header lists; the kernel's mount table tells the name, and an open file tells which of its lines is meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace jaxprof::launcher {

struct Mount {
  std::string point;   // where it is mounted
  std::string type;    // "ext4", "nfs4", "fuse.sshfs", …
  std::string source;  // device, server, or a word
};

// Where the bytes of a file system lie.
enum class Storage {
  kNode,    // on a disk of the node, or of a kind that is not known as anything else
  kMemory,  // tmpfs, ramfs: in the node's memory, counted against the job that wrote it
  kShared,  // on other machines, or behind a program that may hang
};
Storage storage_of(std::string_view file_system_type);

// The number behind "mnt_id:" in the text of /proc/self/fdinfo/FD; nothing if there is none (Linux before 3.15).
std::optional<std::int64_t> parse_mount_id(std::string_view fdinfo);
// The line of mount `id` in the text of /proc/self/mountinfo (proc_pid_mountinfo(5)), its octal escapes resolved.
std::optional<Mount> find_mount(std::string_view mountinfo, std::int64_t id);

// The mount that `folder` is on; one that is mounted on demand is mounted by this. kNodeNotReady with the text of errno
// if it is no folder that can be looked up; an empty type if the system does not tell.
Result<Mount> mount_of(const std::string& folder);

}  // namespace jaxprof::launcher

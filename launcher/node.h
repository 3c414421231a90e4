// What a wrapper is on: the node's name and boot, this process's number, and where its files may lie.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/base/env.h"

namespace jaxprof::launcher {

struct Node {
  std::string host;     // as a file name: unusual characters are '_'
  std::string boot_id;  // of /proc/sys/kernel/random/boot_id, "" if it cannot be read
  pid_t pid = 0;
  uid_t uid = 0;
};

Node this_node();

// The node-local folder below which a task makes its own: `given` (--spool), JAXPROF_TMPDIR, SLURM_TMPDIR, TMPDIR,
// /tmp; the first that is not empty. Nothing is made or checked.
std::string spool_base(const std::string& given, const Env& env);

// Bytes that this user may still write to the file system of `path`; -1 with errno if that cannot be known.
std::int64_t free_bytes(const std::string& path);

}  // namespace jaxprof::launcher

// Small files that other nodes may read at any instant: they appear whole, under their final name, or not at all.
// Only what works on NFS and Lustre alike: O_CREAT|O_EXCL, link(2), rename(2).
#pragma once

#include <string>
#include <string_view>

#include "agent/base/result.h"

namespace jaxprof {

enum class Publish {
  kIfAbsent,  // link(2): the first writer wins
  kReplace,   // rename(2): the last writer wins
};

enum class Durable {
  kOnDisk,   // fsync(2): it outlives the node
  kInCache,  // no disk is waited for: it outlives every process, for readers on this node
};

// Writes `content` to a temporary file beside `path`, then names it `path`. With kIfAbsent the value is false when
// `path` was there already (and is left alone). With kReplace only a regular file is replaced: what else has that name,
// a device, a pipe or a link, stays and is written to. The temporary file is gone in every case.
Result<bool> write_atomic_file(const std::string& path, std::string_view content, Publish how,
                               Durable durable = Durable::kOnDisk);

// The whole file; refuses files above `limit_bytes`.
Result<std::string> read_small_file(const std::string& path, std::size_t limit_bytes = 1 << 20);

// Makes `path` and its missing parents (0777 less the umask); an existing folder is success.
Status make_directories(const std::string& path);

}  // namespace jaxprof

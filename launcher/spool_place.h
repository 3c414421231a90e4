// Where on its node a task records. The spools take gigabytes, are written while the job computes and must not wait for
// anybody: so the place is a folder of the node's own disk, with room. One that the user named is used or is a fault;
// of those that a system's variables name, one that will not do is passed by for the next, which is on record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/disk_room.h"
#include "agent/base/env.h"
#include "agent/base/result.h"
#include "launcher/launch_plan.h"
#include "launcher/node.h"

namespace jaxprof::launcher {

struct SpoolPlace {
  std::string base;                // absolute, without a slash at its end
  std::string file_system;         // "ext4"; "" if the system does not tell
  bool is_in_memory = false;       // on tmpfs or ramfs
  std::optional<DiskRoom> room;    // nothing if the file system does not tell
  std::vector<std::string> notes;  // what was passed by and why; that it takes memory

  // Most bytes that the task's spools may take: `given` (0: no limit), else 4 GiB, in memory 512 MiB. Rings of threads
  // and the session page are not counted.
  std::int64_t spool_limit_bytes(std::optional<std::int64_t> given) const;
};

// The first that will do of: `given` (--spool), JAXPROF_TMPDIR, SLURM_TMPDIR, TMPDIR, /tmp. Makes nothing.
// kNodeNotReady with what is wrong with each.
Result<SpoolPlace> find_spool_place(const std::string& given, const Env& env);

// "/tmp (ext4, 63.1 GB free of 252.0 GB), at most 4.3 GB"
std::string describe(const SpoolPlace& place, std::int64_t limit_bytes);

// A new private folder for the task below `base`. kNodeNotReady with the path.
Result<std::string> make_spool_directory(const std::string& base, const Node& node, const LaunchPlan& plan);

}  // namespace jaxprof::launcher

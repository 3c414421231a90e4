// What all spools have in common, a process's and a node's: who it is of, its clock anchors, and blocks in a row. Each
// kind of spool takes its own blocks from here. Nothing is decoded but these two. Anchors with times that no clock
// shows (merge/clock/plausible.h) are left out here, and counted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/spool/spool_reader.h"

namespace jaxprof::rundir {

struct SpoolBlocks {
  spool::SpoolIdentity identity;
  std::vector<spool::AnchorRecord> anchors;
  std::uint64_t implausible_anchors = 0;
  spool::SpoolReader reader;  // at its end; the payloads that were visited lie in it
};

// Reads the spool to its end and calls `visit` for every block but identity and anchors. kInputUnreadable as
// SpoolReader::open, or when no block says whose spool it is.
Result<SpoolBlocks> walk_blocks(const std::string& path, const std::function<void(const spool::Block&)>& visit);

}  // namespace jaxprof::rundir

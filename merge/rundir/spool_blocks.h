// What all spools have in common, a process's and a node's: who it is of, its clock anchors, and blocks in a row. Each
// kind of spool takes its own blocks from here. Nothing is decoded but these two.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "agent/spool/spool_reader.h"

namespace jaxprof::rundir {

struct SpoolBlocks {
  spool::SpoolIdentity identity;
  std::vector<spool::AnchorRecord> anchors;
  spool::SpoolReader reader;  // at its end; the payloads that were visited lie in it
};

// Reads the spool to its end and calls `visit` for every block but identity and anchors. kInputUnreadable as
// SpoolReader::open, or when no block says whose spool it is.
Result<SpoolBlocks> walk_blocks(const std::string& path, const std::function<void(const spool::Block&)>& visit);

}  // namespace jaxprof::rundir

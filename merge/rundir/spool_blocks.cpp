#include "merge/rundir/spool_blocks.h"

#include <utility>

#include "merge/clock/plausible.h"

namespace jaxprof::rundir {

Result<SpoolBlocks> walk_blocks(const std::string& path, const std::function<void(const spool::Block&)>& visit) {
  auto reader = spool::SpoolReader::open(path);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  SpoolBlocks blocks{{}, {}, 0, std::move(*reader)};
  bool has_identity = false;
  spool::Block block;
  while (blocks.reader.next(&block)) {
    if (block.kind == spool::BlockKind::kIdentity) {
      blocks.identity = spool::SpoolIdentity::parse(block.payload);
      has_identity = true;
    } else if (block.kind == spool::BlockKind::kAnchors) {
      for (const spool::AnchorRecord& anchor : spool::parse_anchors(block.payload)) {
        if (clock::is_plausible(anchor)) {
          blocks.anchors.push_back(anchor);
        } else {
          ++blocks.implausible_anchors;
        }
      }
    } else {
      visit(block);
    }
  }
  if (!has_identity) return fail(ErrorCode::kInputUnreadable, path + ": no block says whose spool it is");
  return blocks;
}

}  // namespace jaxprof::rundir

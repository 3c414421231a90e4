#include "merge/rundir/spool_blocks.h"

#include <utility>

namespace jaxprof::rundir {

Result<SpoolBlocks> walk_blocks(const std::string& path, const std::function<void(const spool::Block&)>& visit) {
  auto reader = spool::SpoolReader::open(path);
  if (!reader) return tl::unexpected(std::move(reader.error()));
  SpoolBlocks blocks{{}, {}, std::move(*reader)};
  bool has_identity = false;
  spool::Block block;
  while (blocks.reader.next(&block)) {
    if (block.kind == spool::BlockKind::kIdentity) {
      blocks.identity = spool::SpoolIdentity::parse(block.payload);
      has_identity = true;
    } else if (block.kind == spool::BlockKind::kAnchors) {
      const auto anchors = spool::parse_anchors(block.payload);
      blocks.anchors.insert(blocks.anchors.end(), anchors.begin(), anchors.end());
    } else {
      visit(block);
    }
  }
  if (!has_identity) return fail(ErrorCode::kInputUnreadable, path + ": no block says whose spool it is");
  return blocks;
}

}  // namespace jaxprof::rundir

// One thread's way through the chunks of one column. Half the columns of a trace hold one value over whole chunks, and
// such chunks are the same bytes in the file: what was decoded once is not decoded again.
#pragma once

#include <cstdint>
#include <span>

#include "agent/base/result.h"
#include "merge/runfile/chunk_decoder.h"
#include "merge/runfile/chunk_places.h"

namespace jaxprof::runfile {

// One thread at a time.
class ChunkCursor {
 public:
  // Of the file behind descriptor `fd`. `places` outlives the cursor.
  ChunkCursor(int fd, const ChunkPlaces& places) : fd_(fd), places_(&places) {}

  // Elements from row `first` on, as many as `out` has room for; all of them are in the column. What `out` points to is
  // taken for unchanged since the last call if it is the same place. kInputUnreadable names the row.
  Status read(std::uint64_t first, std::span<std::byte> out, ChunkDecoder& decoder);

 private:
  Status decode(std::uint64_t chunk, std::span<std::byte> out, ChunkDecoder& decoder);
  Status load(std::uint64_t chunk, Bytes& encoded) const;

  int fd_;
  const ChunkPlaces* places_;
  Bytes encoded_;                          // of the chunk that was decoded last
  const std::byte* decoded_at_ = nullptr;  // where to
  Bytes next_;
  Bytes elements_;  // a chunk of which only a part was asked for
};

}  // namespace jaxprof::runfile

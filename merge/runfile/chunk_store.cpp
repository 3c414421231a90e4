// Memory first, then the scratch file.
#include "merge/runfile/chunk_store.h"

namespace jaxprof::runfile {

Status ChunkStore::put(std::span<const std::byte> encoded, StoredChunk& chunk) {
  chunk.size_bytes = encoded.size();
  if (bytes_in_memory_.fetch_add(encoded.size()) + encoded.size() <= memory_bytes_) {
    chunk.bytes.assign(encoded.begin(), encoded.end());
    return {};
  }
  bytes_in_memory_ -= encoded.size();
  const std::scoped_lock lock(mutex_);
  if (!scratch_) {
    auto made = scratch::ScratchFile::create(folder_);
    if (!made) return tl::unexpected(std::move(made.error()));
    scratch_.emplace(std::move(*made));
  }
  chunk.offset = scratch_->size_bytes();
  return scratch_->append(encoded);
}

Result<std::span<const std::byte>> ChunkStore::get(const StoredChunk& chunk, Bytes& buffer) const {
  if (!chunk.bytes.empty() || chunk.size_bytes == 0) return std::span<const std::byte>{chunk.bytes};
  if (buffer.size() < chunk.size_bytes) buffer.resize(chunk.size_bytes);
  const auto bytes = std::span{buffer}.first(chunk.size_bytes);
  if (auto read = scratch_->read(chunk.offset, bytes); !read) return tl::unexpected(std::move(read.error()));
  return std::span<const std::byte>{bytes};
}

}  // namespace jaxprof::runfile

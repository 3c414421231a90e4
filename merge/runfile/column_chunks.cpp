// Buffers rows to a chunk and sends it to the pool.
#include "merge/runfile/column_chunks.h"

#include <utility>

namespace jaxprof::runfile {

void ColumnChunks::append(std::span<const std::byte> elements) {
  const std::size_t chunk_bytes = kChunkRows * element_bytes();
  rows_ += elements.size() / element_bytes();
  while (!elements.empty()) {
    const auto taken = elements.first(std::min(elements.size(), chunk_bytes - buffer_.size()));
    make_room(buffer_.size() + taken.size());
    buffer_.insert(buffer_.end(), taken.begin(), taken.end());
    elements = elements.subspan(taken.size());
    if (buffer_.size() == chunk_bytes) submit();
  }
}

// A run has more than a hundred columns, most of which never fill a chunk: a buffer is at most twice what is in it, and
// never longer than a chunk.
void ColumnChunks::make_room(std::size_t size_bytes) {
  if (size_bytes <= buffer_.capacity()) return;
  const std::size_t chunk_bytes = kChunkRows * element_bytes();
  const std::size_t wanted = std::max(size_bytes, 2 * buffer_.capacity());
  if (wanted < chunk_bytes / 2) {
    buffer_.reserve(wanted);
  } else if (buffer_.empty()) {
    buffer_ = pool_->take_buffer(chunk_bytes);
  } else {
    buffer_.reserve(chunk_bytes);
  }
}

void ColumnChunks::submit() {
  pool_->submit(std::exchange(buffer_, {}), element_bytes(), chunks_.emplace_back());
}

Status ColumnChunks::append_encoded(std::span<const std::byte> chunk) {
  rows_ += kChunkRows;
  return pool_->store().put(chunk, chunks_.emplace_back());
}

void ColumnChunks::close() {
  if (buffer_.empty()) return;
  // A chunk always lies whole in the file; what is beyond the last row is never read.
  const std::size_t size_bytes = chunk_rows() * element_bytes();
  make_room(size_bytes);
  while (buffer_.size() < size_bytes) buffer_.insert(buffer_.end(), missing_.begin(), missing_.end());
  submit();
}

}  // namespace jaxprof::runfile

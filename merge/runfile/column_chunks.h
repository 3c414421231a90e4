// One column of a table on its way into the file: rows are appended in any portions, and every full chunk is encoded by
// the pool and kept in its store. So a table of any length costs one chunk a column of memory, and a column with few
// rows costs what they are. What comes out depends on the rows alone. No HDF5 here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>

#include "agent/base/result.h"
#include "merge/runfile/chunk_pool.h"

namespace jaxprof::runfile {

inline constexpr std::size_t kChunkRows = 131'072;  // 1 MiB of int64, h5py's default chunk cache

// The element `value` as it lies in the file.
template <typename T>
Bytes element_of(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// The thread that submits to the pool.
class ColumnChunks {
 public:
  // `missing` is one element, which fills up the last chunk. `pool` outlives the column.
  ColumnChunks(ChunkPool& pool, Bytes missing) : pool_(&pool), missing_(std::move(missing)) {}
  ColumnChunks(ColumnChunks&&) noexcept = default;
  ColumnChunks& operator=(ColumnChunks&&) noexcept = default;

  void append(std::span<const std::byte> elements);
  // A whole chunk that was encoded elsewhere, as the pool would have done. Only where a chunk begins.
  Status append_encoded(std::span<const std::byte> chunk);
  // Encodes what is left; nothing may be appended after it. The chunks are there after wait() of the pool.
  void close();

  std::uint64_t rows() const { return rows_; }
  std::size_t element_bytes() const { return missing_.size(); }
  const Bytes& missing() const { return missing_; }
  ChunkPool& pool() const { return *pool_; }
  // After close(): a column that is shorter than a chunk is one of its own length, so small tables are small files.
  std::uint64_t chunk_rows() const { return std::clamp<std::uint64_t>(rows_, 1, kChunkRows); }
  const std::deque<StoredChunk>& chunks() const { return chunks_; }

 private:
  void make_room(std::size_t size_bytes);
  void submit();

  ChunkPool* pool_;
  Bytes missing_;
  std::uint64_t rows_ = 0;
  Bytes buffer_;                    // the chunk that is not full yet
  std::deque<StoredChunk> chunks_;  // a deque: the pool fills them in where they are
};

}  // namespace jaxprof::runfile

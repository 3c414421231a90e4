// One column of a table: a chunked HDF5 dataset that grows by whole chunks which were encoded elsewhere. Rows can be
// appended in any portions, so a table of any length is written with one chunk a column in memory.
// A column shorter than a chunk gets a chunk of its own length, so small tables are small files.
#pragma once

#include <deque>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/chunk_pool.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/hdf5_types.h"

namespace jaxprof::runfile {

inline constexpr std::size_t kChunkRows = 131'072;  // 1 MiB of int64, h5py's default chunk cache

// What a dataset says about itself besides its type.
struct ColumnText {
  std::string path;
  const char* unit;
  const char* long_name;
};

// The writing thread only. Nothing is in the file until the first full chunk or finish().
class RawColumnWriter {
 public:
  // `missing` holds one element; `type` is the element's type in the file. Both are kept.
  RawColumnWriter(hid_t file, ChunkPool& pool, ColumnText text, Handle type, Bytes missing);

  Status append(std::span<const std::byte> elements);
  // Writes what is left and the attributes; nothing may be appended after it.
  Status finish();

 private:
  Status create(std::size_t chunk_rows);
  Status submit_chunk();
  Status write_encoded(Bytes encoded);
  Status write_ready(bool wait);
  tl::unexpected<Error> failed() const;

  hid_t file_;
  ChunkPool& pool_;
  ColumnText text_;
  Handle type_;
  Bytes missing_;
  Handle dataset_;
  std::size_t chunk_rows_ = kChunkRows;
  std::size_t rows_submitted_ = 0;
  std::size_t rows_written_ = 0;  // in whole chunks, up to the end of the data
  Bytes buffer_;
  std::deque<std::future<Bytes>> pending_;
};

template <typename T>
class ColumnWriter {
 public:
  ColumnWriter(hid_t file, ChunkPool& pool, ColumnText text, T missing)
      : raw_(file, pool, std::move(text), file_type<T>(file), as_element(missing)) {}

  Status append(std::span<const T> values) { return raw_.append(std::as_bytes(values)); }
  Status finish() { return raw_.finish(); }

 private:
  static Bytes as_element(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return {bytes.begin(), bytes.end()};
  }
  RawColumnWriter raw_;
};

}  // namespace jaxprof::runfile

// One column of a table in the file: a chunked HDF5 dataset of one dimension with its unit, meaning and missing value.
// Its chunks were encoded before (column_chunks.h) and are written as they are, one after the other, so that the raw
// data of one column lies together.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/hdf5_types.h"

namespace jaxprof::runfile {

// What a dataset says about itself besides its type.
struct ColumnText {
  std::string path;
  const char* unit;
  const char* long_name;
};

// `column` is closed and its pool has nothing pending; `type` is the element's type in the file. Makes the groups on
// the way.
Status write_column_dataset(hid_t file, const ColumnText& text, hid_t type, const ColumnChunks& column);

// All of a column that is in memory.
template <typename T>
Status write_column(hid_t file, ChunkPool& pool, const ColumnText& text, T missing, const std::vector<T>& values) {
  ColumnChunks column{pool, element_of(missing)};
  column.append(std::as_bytes(std::span(values)));
  column.close();
  return pool.wait().and_then([&] { return write_column_dataset(file, text, file_type<T>(file).get(), column); });
}

}  // namespace jaxprof::runfile

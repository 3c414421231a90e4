// Where the chunks of a column lie in the file, so that others than HDF5 may read them: its library does one thing at a
// time, and a file holds thousands of chunks that have nothing to do with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/chunk_decoder.h"
#include "merge/runfile/dataset_reader.h"

namespace jaxprof::runfile {

struct ChunkPlace {
  std::uint64_t offset_bytes;  // from the beginning of the file
  std::uint64_t size_bytes;    // as it lies there
};

struct ChunkPlaces {
  std::uint64_t rows = 0;
  std::uint64_t chunk_rows = 1;
  std::size_t element_bytes = 1;
  ChunkFilters filters;
  std::vector<ChunkPlace> chunks;  // chunk i holds rows from i * chunk_rows on; the last may hold more than there are
};

// Nothing for a column that only HDF5 reads right: one of another type than `wanted`, of another layout than chunks, or
// with other filters than ours, as after h5repack. kInputUnreadable for chunks outside of the file.
Result<std::optional<ChunkPlaces>> find_chunks(const DatasetReader& dataset, hid_t wanted);

}  // namespace jaxprof::runfile

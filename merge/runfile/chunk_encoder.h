// HDF5's own filter pipeline compresses on one thread with zlib: 3 million rows a second. A chunk encoded here by
// libdeflate and handed to H5Dwrite_chunk is the same "shuffle, gzip" to every reader and is made on any thread.
// This turns the rows of one chunk into the bytes that lie in the file; it knows no HDF5.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

struct libdeflate_compressor;

namespace jaxprof::runfile {

using Bytes = std::vector<std::byte>;

// Byte k of every element together, as HDF5's shuffle filter lays them out. Whole elements only.
Bytes shuffled(std::span<const std::byte> elements, std::size_t element_bytes);

// One thread at a time; each worker has its own. Half the columns of a trace hold one value over whole chunks (what no
// source told is missing everywhere), so the stream of such a chunk is made once and kept.
class ChunkEncoder {
 public:
  ChunkEncoder();

  // Shuffle (elements of more than one byte), then a zlib stream.
  Bytes encode(std::span<const std::byte> elements, std::size_t element_bytes);

 private:
  Bytes compress(std::span<const std::byte> elements, std::size_t element_bytes);

  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
  std::map<std::pair<Bytes, std::size_t>, Bytes> constant_chunks_;  // by element and length of the chunk
};

}  // namespace jaxprof::runfile

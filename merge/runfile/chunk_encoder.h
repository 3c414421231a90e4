// HDF5's own filter pipeline compresses on one thread with zlib: 3 million rows a second. A chunk encoded here by
// libdeflate and handed to H5Dwrite_chunk is the same "shuffle, gzip" to every reader and is made on any thread.
// This turns the rows of one chunk into the bytes that lie in the file; it knows no HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

struct libdeflate_compressor;

namespace jaxprof::runfile {

using Bytes = std::vector<std::byte>;

// What lies in the chunks of columns.
enum class Compression : std::uint8_t {
  kGzip,  // shuffled and deflated
  kNone,  // as in memory: no filter at all
};

// Byte k of every element together, as HDF5's shuffle filter lays them out. Whole elements only.
Bytes shuffled(std::span<const std::byte> elements, std::size_t element_bytes);

// One thread at a time; each worker has its own. What comes out depends on what goes in alone. Half the columns of a
// trace hold one value over whole chunks (what no source told is missing everywhere), so the stream of such a chunk is
// made once and kept.
class ChunkEncoder {
 public:
  explicit ChunkEncoder(Compression compression = Compression::kGzip);

  // Shuffle (elements of more than one byte), then a zlib stream; or `elements` themselves. Valid until the next call.
  std::span<const std::byte> encode(std::span<const std::byte> elements, std::size_t element_bytes);

 private:
  std::span<const std::byte> compress(std::span<const std::byte> elements, std::size_t element_bytes);

  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };

  Compression compression_;
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
  Bytes deflated_;
  Bytes shuffled_;
  std::map<std::pair<Bytes, std::size_t>, Bytes> constant_chunks_;  // by element and length of the chunk
};

}  // namespace jaxprof::runfile

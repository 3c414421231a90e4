// HDF5 inflates on one thread with zlib, which makes reading a column several times slower than counting in it. This
// is ChunkEncoder backwards: the bytes of a chunk as they lie in the file become its elements, on any thread. No HDF5.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "agent/base/result.h"
#include "merge/runfile/chunk_encoder.h"

struct libdeflate_decompressor;

namespace jaxprof::runfile {

// The filters that a column's chunks went through.
struct ChunkFilters {
  bool is_shuffled = false;
  bool is_deflated = false;
};

// One thread at a time; each worker has its own.
class ChunkDecoder {
 public:
  ChunkDecoder();

  // Fills `elements`, which is as long as the chunk; kInputUnreadable if `encoded` is anything but that many bytes.
  Status decode(std::span<const std::byte> encoded, ChunkFilters filters, std::size_t element_bytes,
                std::span<std::byte> elements);

 private:
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const;
  };

  std::unique_ptr<libdeflate_decompressor, Free> decompressor_;
  Bytes planes_;
};

}  // namespace jaxprof::runfile

// A zlib stream, then the shuffle.
#include "merge/runfile/chunk_decoder.h"

#include <libdeflate.h>

#include <cstring>
#include <new>
#include <string>

#include "merge/runfile/byte_planes.h"

namespace jaxprof::runfile {
namespace {

tl::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorCode::kInputUnreadable, what);
}

}  // namespace

void ChunkDecoder::Free::operator()(libdeflate_decompressor* decompressor) const {
  libdeflate_free_decompressor(decompressor);
}

ChunkDecoder::ChunkDecoder() : decompressor_(libdeflate_alloc_decompressor()) {
  if (!decompressor_) throw std::bad_alloc{};
}

Status ChunkDecoder::decode(std::span<const std::byte> encoded, ChunkFilters filters, std::size_t element_bytes,
                            std::span<std::byte> elements) {
  std::span<std::byte> inflated = elements;
  if (filters.is_shuffled) {
    planes_.resize(elements.size());
    inflated = planes_;
  }
  if (filters.is_deflated) {
    const auto how = libdeflate_zlib_decompress(decompressor_.get(), encoded.data(), encoded.size(), inflated.data(),
                                                inflated.size(), nullptr);
    if (how == LIBDEFLATE_BAD_DATA) return damaged("is not a whole zlib stream");
    if (how != LIBDEFLATE_SUCCESS) return damaged("does not inflate to " + std::to_string(inflated.size()) + " bytes");
  } else {
    if (encoded.size() != inflated.size()) {
      return damaged("has " + std::to_string(encoded.size()) + " bytes instead of " + std::to_string(inflated.size()));
    }
    std::memcpy(inflated.data(), encoded.data(), encoded.size());
  }
  if (filters.is_shuffled) unshuffle(planes_, element_bytes, elements);
  return {};
}

}  // namespace jaxprof::runfile

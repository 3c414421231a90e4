#include "agent/spool/block.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>

namespace jaxprof::spool {

std::uint64_t block_checksum(const BlockHeader& header, const void* payload) noexcept {
  const XXH64_hash_t seed = XXH3_64bits(&header, offsetof(BlockHeader, checksum));
  return XXH3_64bits_withSeed(payload, header.payload_bytes, seed);
}

std::uint64_t file_header_checksum(const FileHeader& header) noexcept {
  return XXH3_64bits(&header, offsetof(FileHeader, checksum));
}

}  // namespace jaxprof::spool

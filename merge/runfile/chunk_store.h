// Where chunks of columns end up in a run file must not depend on which came first, so they are kept aside until all
// are there. The first ones stay in memory, which is enough for a small run; the others go to a scratch file beside the
// run file. A chunk is encoded by then: this is a few bytes a row.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "agent/base/result.h"
#include "merge/runfile/chunk_encoder.h"
#include "merge/scratch/scratch_file.h"

namespace jaxprof::runfile {

struct StoredChunk {
  Bytes bytes;               // if it is in memory
  std::uint64_t offset = 0;  // in the scratch file, if not
  std::size_t size_bytes = 0;
};

class ChunkStore {
 public:
  // `folder` is where the scratch file may lie; it is made when more than `memory_bytes` are kept.
  ChunkStore(std::string folder, std::size_t memory_bytes) : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}

  // Any thread. kOutputFailed when the disk is full.
  Status put(std::span<const std::byte> encoded, StoredChunk& chunk);
  // One thread, after all were put. The bytes lie in `chunk` or in `buffer`.
  Result<std::span<const std::byte>> get(const StoredChunk& chunk, Bytes& buffer) const;

 private:
  std::string folder_;
  std::size_t memory_bytes_;
  std::atomic<std::size_t> bytes_in_memory_ = 0;
  std::mutex mutex_;  // of scratch_
  std::optional<scratch::ScratchFile> scratch_;
};

}  // namespace jaxprof::runfile

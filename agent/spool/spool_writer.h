// Writes a spool: header first, then whole blocks, each by one write(2) to a local file, so that what was written
// survives the process. When the disk is full the file is cut back to its last whole block and nothing more is
// written: it stays a prefix of itself at every instant, which the publisher relies on. A descriptor that the program
// has closed, and perhaps opened anew as a file of its own, is recognised before each write. One thread at a time.
// Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/base/file_identity.h"
#include "agent/base/unique_fd.h"
#include "agent/spool/block.h"

namespace jaxprof::spool {

class SpoolWriter {
 public:
  // Room that a block's payload must leave before itself for the header: payloads are written in place.
  static constexpr std::size_t kHeadroom = sizeof(BlockHeader);

  // Creates the file, which must not exist; false with errno.
  bool create(const char* path, std::uint64_t file_id) noexcept;

  // Opens a spool that its process has left, cuts it back to `bytes`, and goes on with block `sequence`; false with
  // errno, and nothing can be written then.
  bool resume(const char* path, std::uint64_t bytes, std::uint32_t sequence) noexcept;

  // `buffer` holds kHeadroom bytes for the header and then the payload. False if the block is not in the file.
  bool write_block(BlockKind kind, std::uint8_t* buffer, std::size_t payload_bytes) noexcept;

  // Gives the descriptor up; resume() goes on later, maybe from another thread with descriptors of its own.
  void close() noexcept { fd_.reset(); }

  // The open file, to ask the system about; -1 if there is none.
  int fd() const noexcept { return fd_.get(); }
  bool is_open() const noexcept { return static_cast<bool>(fd_); }
  bool has_failed() const noexcept { return failure_ != 0; }
  // The errno of the first write that failed, for good; EBADF if the descriptor had become another's. 0: none.
  int failure() const noexcept { return failure_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint32_t blocks() const noexcept { return sequence_; }
  // Asks the disk to hold what was written (fdatasync).
  void sync() noexcept;

 private:
  bool write_all(const void* from, std::size_t length) noexcept;

  UniqueFd fd_;
  FileIdentity identity_;
  std::uint64_t bytes_ = 0;
  std::uint32_t sequence_ = 0;
  int failure_ = 0;
};

}  // namespace jaxprof::spool

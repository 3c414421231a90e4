#include "agent/spool/spool_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace jaxprof::spool {

bool SpoolWriter::create(const char* path, std::uint64_t file_id) noexcept {
  fd_.reset(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0600));
  if (!fd_) return false;
  identity_ = FileIdentity::of(fd_.get());
  FileHeader header{};
  std::memcpy(header.magic, kFileMagic, sizeof kFileMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.file_id = file_id;
  header.checksum = file_header_checksum(header);
  return write_all(&header, sizeof header);
}

bool SpoolWriter::resume(const char* path, std::uint64_t bytes, std::uint32_t sequence) noexcept {
  fd_.reset(open(path, O_WRONLY | O_CLOEXEC | O_APPEND | O_NOFOLLOW));
  identity_ = FileIdentity::of(fd_.get());
  if (!fd_ || ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) {
    failure_ = errno;
    return false;
  }
  bytes_ = bytes;
  sequence_ = sequence;
  return true;
}

bool SpoolWriter::write_block(BlockKind kind, std::uint8_t* buffer, std::size_t payload_bytes) noexcept {
  if (!fd_ || failure_ != 0 || payload_bytes > kMaxPayload) return false;
  BlockHeader header{};
  header.magic = kBlockMagic;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.kind = static_cast<std::uint16_t>(kind);
  header.sequence = sequence_;
  header.checksum = block_checksum(header, buffer + kHeadroom);
  std::memcpy(buffer, &header, sizeof header);
  if (!write_all(buffer, kHeadroom + payload_bytes)) return false;
  ++sequence_;
  return true;
}

bool SpoolWriter::write_all(const void* from, std::size_t length) noexcept {
  const auto* at = static_cast<const std::uint8_t*>(from);
  std::size_t left = length;
  if (FileIdentity::of(fd_.get()) != identity_) {
    fd_.release();  // not ours any more, and not ours to close
    failure_ = EBADF;
    return false;
  }
  while (left > 0) {
    const ssize_t written = write(fd_.get(), at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failure_ = written < 0 ? errno : EIO;
      // The file ends with a whole block, or not at all. If even this fails, readers drop the torn block.
      if (ftruncate(fd_.get(), static_cast<off_t>(bytes_)) != 0) return false;
      return false;
    }
    at += written;
    left -= static_cast<std::size_t>(written);
  }
  bytes_ += length;
  return true;
}

void SpoolWriter::sync() noexcept {
  if (fd_ && fdatasync(fd_.get()) != 0) return;  // best effort: the page cache still has it
}

}  // namespace jaxprof::spool

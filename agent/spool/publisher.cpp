#include "agent/spool/publisher.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/spool/block.h"

namespace jaxprof::spool {
namespace {

// Appends `length` bytes at `offset`; what was written before a failure counts.
bool write_at(int fd, const char* bytes, std::size_t length, std::uint64_t* offset) {
  while (length > 0) {
    const ssize_t written = pwrite(fd, bytes, length, static_cast<off_t>(*offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    length -= static_cast<std::size_t>(written);
    *offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

// The beginning of a file, at most as long as a spool's own header.
std::string read_head(int fd) {
  char head[sizeof(FileHeader)];
  const ssize_t length = pread(fd, head, sizeof head, 0);
  return std::string(head, length > 0 ? static_cast<std::size_t>(length) : 0);
}

bool is_head_of(int spool_fd, int fd) {
  const std::string head = read_head(fd);
  return !head.empty() && read_head(spool_fd).starts_with(head);
}

// Where nothing better exists: an empty file of the name is the lock, which the rename then replaces.
Result<bool> rename_over_own_claim(const std::string& from, const std::string& to) {
  UniqueFd claim(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!claim) {
    if (errno == EEXIST) return false;
    return fail_errno(ErrorCode::kOutputFailed, "cannot name " + to);
  }
  if (rename(from.c_str(), to.c_str()) == 0) return true;
  auto error = fail_errno(ErrorCode::kOutputFailed, "cannot name " + to);
  unlink(to.c_str());
  return error;
}

}  // namespace

Result<bool> rename_if_absent(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot name " + to);
  }
  const int linked = link(from.c_str(), to.c_str());
  const int link_errno = errno;
  // NFS may report a failure for a link that was made: two names on the file tell the truth (open(2), O_EXCL).
  struct stat status {};
  if (linked == 0 || (stat(from.c_str(), &status) == 0 && status.st_nlink == 2)) {
    unlink(from.c_str());
    return true;
  }
  if (link_errno == EEXIST) return false;
  return rename_over_own_claim(from, to);
}

bool is_copy_of_spool(const std::string& spool_path, const std::string& path) {
  const UniqueFd spool(open(spool_path.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return spool && file && is_head_of(spool.get(), file.get());
}

Publisher::Publisher(UniqueFd spool, UniqueFd part, std::string part_path, std::uint64_t published_bytes)
    : spool_(std::move(spool)),
      part_(std::move(part)),
      part_path_(std::move(part_path)),
      published_bytes_(published_bytes) {}

Result<Publisher> Publisher::open(const std::string& spool_path, const std::string& part_path) {
  UniqueFd spool(::open(spool_path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat spool_status {};
  if (!spool || fstat(spool.get(), &spool_status) != 0) {
    return fail_errno(ErrorCode::kInputUnreadable, "cannot open " + spool_path);
  }
  UniqueFd part(::open(part_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  struct stat part_status {};
  if (!part || fstat(part.get(), &part_status) != 0) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot open " + part_path);
  }
  if (part_status.st_size > spool_status.st_size) {
    return fail(ErrorCode::kOutputFailed, part_path + " has " + std::to_string(part_status.st_size) +
                                              " bytes, but its spool " + spool_path + " only " +
                                              std::to_string(spool_status.st_size));
  }
  if (part_status.st_size > 0 && !is_head_of(spool.get(), part.get())) {
    return fail(ErrorCode::kOutputFailed,
                part_path + " is not the beginning of " + spool_path + ", but another's file");
  }
  return Publisher(std::move(spool), std::move(part), part_path, static_cast<std::uint64_t>(part_status.st_size));
}

Result<std::uint64_t> Publisher::copy_piece(std::span<char> room) {
  const std::uint64_t begin = published_bytes_;
  ssize_t length;
  do {
    length = pread(spool_.get(), room.data(), std::min(room.size(), kPieceBytes), static_cast<off_t>(published_bytes_));
  } while (length < 0 && errno == EINTR);
  if (length < 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot read the spool of " + part_path_);
  if (!write_at(part_.get(), room.data(), static_cast<std::size_t>(length), &published_bytes_)) {
    return fail_errno(ErrorCode::kOutputFailed, "cannot write " + part_path_);
  }
  return published_bytes_ - begin;
}

Result<bool> Publisher::finish(const std::string& final_path, Name name) {
  if (fsync(part_.get()) != 0) return fail_errno(ErrorCode::kOutputFailed, "cannot write " + part_path_);
  if (name == Name::kIfAbsent) return rename_if_absent(part_path_, final_path);
  if (rename(part_path_.c_str(), final_path.c_str()) == 0) return true;
  return fail_errno(ErrorCode::kOutputFailed, "cannot name " + final_path);
}

}  // namespace jaxprof::spool

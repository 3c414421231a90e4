#include "merge/scratch/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

namespace jaxprof::scratch {
namespace {

// A name that is gone at once; the file lives as long as its descriptor.
UniqueFd make_unlinked(const std::string& folder) {
  std::string name = folder + "/.jaxprof-scratch.XXXXXX";
  UniqueFd fd{::mkostemp(name.data(), O_CLOEXEC)};
  if (fd && ::unlink(name.c_str()) != 0) fd.reset();
  return fd;
}

}  // namespace

Result<ScratchFile> ScratchFile::create(const std::string& folder) {
  ScratchFile file;
  file.folder_ = folder;
  file.fd_.reset(::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!file.fd_) file.fd_ = make_unlinked(folder);
  if (!file.fd_) return fail_errno(ErrorCode::kOutputFailed, "cannot make a scratch file in " + folder);
  return file;
}

Status ScratchFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_bytes_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return fail_errno(ErrorCode::kOutputFailed, "cannot write to a scratch file in " + folder_ + ", which holds " +
                                                      std::to_string(size_bytes_) + " bytes");
    }
    size_bytes_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status ScratchFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(ErrorCode::kOutputFailed, "cannot read a scratch file in " + folder_);
    if (got == 0) {
      return fail(ErrorCode::kOutputFailed, "a scratch file in " + folder_ + " ends at byte " + std::to_string(offset) +
                                                ", " + std::to_string(bytes.size()) + " bytes too early");
    }
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace jaxprof::scratch

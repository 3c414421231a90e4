// open, flock, fsync, link or rename: what NFS and Lustre can do alike. A file system without locks or links only
// loses the protection against a second merge at the same moment.
#include "merge/runfile/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

namespace jaxprof::runfile {
namespace {

tl::unexpected<Error> exists(const std::string& path) {
  return fail(ErrorCode::kOutputFailed, path + ": exists already; choose another name or allow to replace it with -f");
}

void sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const UniqueFd fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (fd) (void)::fsync(fd.get());  // best effort: some file systems refuse it
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<OutputFile> OutputFile::create(const std::string& path, bool may_replace) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0) {
    // A rename onto a device would put a file in its place.
    if (!S_ISREG(found.st_mode)) {
      return fail(ErrorCode::kOutputFailed, path + ": is not a regular file and is left alone; choose another name");
    }
    if (!may_replace) return exists(path);
  }
  OutputFile output{path, may_replace};
  const std::string part = path + ".part";
  UniqueFd fd{::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
  if (!fd) return fail_errno(ErrorCode::kOutputFailed, part + ": cannot be created");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(ErrorCode::kOutputFailed, part + ": another merge is writing it");
  }
  output.part_path_ = part;
  output.fd_ = std::move(fd);
  return output;
}

OutputFile::~OutputFile() {
  if (fd_) (void)::unlink(part_path_.c_str());
}

Status OutputFile::name_it() const {
  if (!may_replace_) {
    if (::link(part_path_.c_str(), path_.c_str()) == 0) {
      (void)::unlink(part_path_.c_str());
      return {};
    }
    if (errno == EEXIST) return exists(path_);
    struct stat found {};
    if (::lstat(path_.c_str(), &found) == 0) return exists(path_);
  }
  if (std::rename(part_path_.c_str(), path_.c_str()) != 0) {
    return fail_errno(ErrorCode::kOutputFailed, path_ + ": cannot be named");
  }
  return {};
}

Result<std::uint64_t> OutputFile::publish() {
  struct stat written {};
  if (::fsync(fd_.get()) != 0) return fail_errno(ErrorCode::kOutputFailed, part_path_ + ": cannot be synced");
  if (::fstat(fd_.get(), &written) != 0) return fail_errno(ErrorCode::kOutputFailed, part_path_);
  if (auto named = name_it(); !named) return tl::unexpected(std::move(named.error()));
  fd_.reset();
  sync_folder_of(path_);
  return static_cast<std::uint64_t>(written.st_size);
}

}  // namespace jaxprof::runfile

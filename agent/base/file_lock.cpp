#include "agent/base/file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace jaxprof {
namespace {

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// A file that was removed while this process waited for its turn has no name any more, and its lock no meaning.
bool is_still_named(int fd, const std::string& path) {
  struct stat open_file {
  }, named{};
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 && open_file.st_dev == named.st_dev &&
         open_file.st_ino == named.st_ino;
}

}  // namespace

bool is_locked_by_other(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct flock lock = whole_file();
  return fd && fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

Result<FileLock> try_lock(const std::string& path, Missing missing) {
  const int create = missing == Missing::kCreate ? O_CREAT : 0;
  FileLock result;
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, 0600));
  if (!fd && errno == ENOENT) return result;
  struct flock lock = whole_file();
  if (fd && fcntl(fd.get(), F_SETLK, &lock) == 0) {
    if (is_still_named(fd.get(), path)) result.fd = std::move(fd);
    return result;
  }
  if (!fd || (errno != EAGAIN && errno != EACCES) || fcntl(fd.get(), F_GETLK, &lock) != 0) {
    return fail_errno(ErrorCode::kNodeNotReady, "cannot lock " + path);
  }
  // The holder may have let go in between: then it is nobody's, for this moment.
  result.holder = lock.l_type == F_UNLCK ? 0 : lock.l_pid;
  return result;
}

}  // namespace jaxprof

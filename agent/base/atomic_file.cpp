#include "agent/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "agent/base/file_size_limit.h"
#include "agent/base/unique_fd.h"

namespace jaxprof {
namespace {

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Unique among the nodes that may write to the same folder: host, pid and a count.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count{0};
  char host[65] = {};
  gethostname(host, sizeof host - 1);
  return path + ".tmp." + host + "." + std::to_string(getpid()) + "." + std::to_string(count++);
}

// A device, a pipe or a link: something that a rename would put a file in the place of.
bool is_special(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

Result<bool> write_through(const std::string& path, std::string_view content) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(ErrorCode::kOutputFailed, "cannot open " + path);
  if (!write_all(fd.get(), content)) return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path);
  return true;
}

}  // namespace

Result<bool> write_atomic_file(const std::string& path, std::string_view content, Publish how, Durable durable) {
  if (!is_file_size_allowed(content.size())) return fail_errno(ErrorCode::kOutputFailed, "cannot write " + path);
  if (how == Publish::kReplace && is_special(path)) return write_through(path, content);
  const std::string temporary = temporary_name(path);
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(ErrorCode::kOutputFailed, "cannot create " + temporary);
  const bool is_written = write_all(fd.get(), content) && (durable == Durable::kInCache || fsync(fd.get()) == 0);
  if (!is_written) {
    auto error = fail_errno(ErrorCode::kOutputFailed, "cannot write " + temporary);
    unlink(temporary.c_str());
    return error;
  }
  fd.reset();
  if (how == Publish::kReplace) {
    if (rename(temporary.c_str(), path.c_str()) == 0) return true;
    auto error = fail_errno(ErrorCode::kOutputFailed, "cannot name " + path);
    unlink(temporary.c_str());
    return error;
  }
  const int linked = link(temporary.c_str(), path.c_str());
  const int link_errno = errno;
  // NFS may report a failure for a link that was made: two names on the file tell the truth (open(2), O_EXCL).
  struct stat status {};
  const bool is_ours = linked == 0 || (stat(temporary.c_str(), &status) == 0 && status.st_nlink == 2);
  unlink(temporary.c_str());
  if (is_ours) return true;
  if (link_errno == EEXIST) return false;
  errno = link_errno;
  return fail_errno(ErrorCode::kOutputFailed, "cannot name " + path);
}

Result<std::string> read_small_file(const std::string& path, std::size_t limit_bytes) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(ErrorCode::kInputUnreadable, "cannot open " + path);
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t length = read(fd.get(), buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot read " + path);
    if (length == 0) return content;
    content.append(buffer, static_cast<std::size_t>(length));
    if (content.size() > limit_bytes) {
      return fail(ErrorCode::kInputUnreadable, path + " is larger than " + std::to_string(limit_bytes) + " bytes");
    }
  }
}

Status make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) {
      // A parent on a read-only file system that is there already answers EROFS.
      const int saved = errno;
      struct stat status {};
      if (stat(part.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        errno = saved;
        return fail_errno(ErrorCode::kOutputFailed, "cannot make directory " + part);
      }
    }
    if (end == std::string::npos) break;
  }
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return fail(ErrorCode::kOutputFailed, path + " is not a directory");
  }
  return {};
}

}  // namespace jaxprof

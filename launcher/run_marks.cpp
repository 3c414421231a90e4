#include "launcher/run_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {
namespace {

// The folder has a name that anyone can guess, in a place where anyone can write: it must be this user's own.
bool is_own_folder(const std::string& path, uid_t uid) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == uid;
}

}  // namespace

bool make_mark(const std::string& path) {
  return static_cast<bool>(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)));
}

int take_unprofiled_line(const std::string& directory, uid_t uid) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return 1;
  if (!is_own_folder(directory, uid)) return 1;
  for (int line = 1; line <= kMaxUnprofiledLines; ++line) {
    if (make_mark(directory + "/unprofiled." + std::to_string(line))) return line;
    if (errno != EEXIST) return 1;
  }
  return 0;
}

}  // namespace jaxprof::launcher

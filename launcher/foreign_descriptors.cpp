#include "launcher/foreign_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "agent/base/parse_number.h"

namespace jaxprof::launcher {
namespace {

std::vector<int> open_descriptors() {
  std::vector<int> descriptors;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return descriptors;
  while (const dirent* entry = readdir(folder)) {
    const auto number = parse_uint64(entry->d_name);
    if (number && static_cast<int>(*number) != dirfd(folder)) descriptors.push_back(static_cast<int>(*number));
  }
  closedir(folder);
  return descriptors;
}

}  // namespace

void close_foreign_descriptors() {
  for (const int fd : open_descriptors()) {
    const int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) close(fd);
  }
}

void close_all_descriptors_but(int kept) {
  for (const int fd : open_descriptors()) {
    if (fd != kept) close(fd);
  }
}

}  // namespace jaxprof::launcher

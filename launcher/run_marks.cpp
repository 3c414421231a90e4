#include "launcher/run_marks.h"

#include <errno.h>
#include <fcntl.h>

#include "agent/base/unique_fd.h"
#include "launcher/node_folder.h"

namespace jaxprof::launcher {

bool make_mark(const std::string& path) {
  return static_cast<bool>(UniqueFd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)));
}

int take_unprofiled_line(const std::string& directory, uid_t uid) {
  if (!make_node_folder(directory, uid)) return 1;
  for (int line = 1; line <= kMaxUnprofiledLines; ++line) {
    if (make_mark(directory + "/unprofiled." + std::to_string(line))) return line;
    if (errno != EEXIST) return 1;
  }
  return 0;
}

}  // namespace jaxprof::launcher

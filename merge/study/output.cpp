// write(2) to the end, or an atomic file.
#include "merge/study/output.h"

#include <unistd.h>

#include <csignal>

#include "agent/base/atomic_file.h"

namespace jaxprof::study {

Status write_output(const std::string& path, const std::string& text) {
  if (!path.empty()) {
    return write_atomic_file(path, text, Publish::kReplace).map([](bool) {});
  }
  std::signal(SIGPIPE, SIG_IGN);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) return {};
    if (n < 0) return fail_errno(ErrorCode::kOutputFailed, "standard output");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace jaxprof::study

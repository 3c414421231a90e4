#include "launcher/observer_turns.h"

#include <errno.h>
#include <fcntl.h>

#include "agent/base/file_lock.h"
#include "agent/base/unique_fd.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::launcher {

bool ObserverTurns::take(int number) const {
  const std::string mark = run_layout::node_observer_start_path(folder_, number);
  return static_cast<bool>(UniqueFd(open(mark.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)));
}

bool ObserverTurns::take_first() const {
  return !is_locked_by_other(run_layout::node_observer_path(folder_)) && take(0);
}

bool ObserverTurns::take_next() const {
  if (is_locked_by_other(run_layout::node_observer_path(folder_))) return false;
  for (int number = 0; number < kMost; ++number) {
    if (take(number)) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

}  // namespace jaxprof::launcher

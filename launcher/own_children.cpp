#include "launcher/own_children.h"

#include <sstream>
#include <string>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"

namespace jaxprof::launcher {

std::vector<pid_t> own_children() {
  constexpr std::size_t kMostBytes = 16 << 20;
  const std::string tasks = "/proc/self/task";
  std::vector<pid_t> children;
  for (const std::string& thread : list_directory(tasks)) {
    const auto text = read_small_file(tasks + "/" + thread + "/children", kMostBytes);
    std::istringstream words(text.value_or(""));
    for (pid_t child = 0; words >> child;) children.push_back(child);
  }
  return children;
}

}  // namespace jaxprof::launcher

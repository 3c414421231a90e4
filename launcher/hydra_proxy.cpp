#include "launcher/hydra_proxy.h"

#include <unistd.h>

#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/parse_number.h"

namespace jaxprof::launcher {
namespace {

// A rank behind a few shells has no more; a broken table of processes shall not hold us.
constexpr int kMostAncestors = 32;

std::vector<std::string_view> split_at_zeros(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return words;
}

// The parent of `pid`, 0 if there is none that can be seen.
pid_t parent_of(pid_t pid) {
  const auto stat = read_small_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  if (!stat) return 0;
  // "PID (NAME) STATE PPID …": the name may hold blanks and parentheses.
  const std::size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos || name_end + 4 >= stat->size()) return 0;
  const std::size_t begin = name_end + 4;
  return static_cast<pid_t>(parse_int64(stat->substr(begin, stat->find(' ', begin) - begin)).value_or(0));
}

}  // namespace

std::string mpiexec_of_proxy(std::string_view command_line) {
  const std::vector<std::string_view> words = split_at_zeros(command_line);
  if (words.empty() || words[0].find("hydra") == std::string_view::npos) return {};
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] != "--control-port") continue;
    const std::string_view address = words[i + 1];
    const std::size_t colon = address.rfind(':');
    if (colon == std::string_view::npos) return {};
    return std::string(address.substr(colon + 1)) + "@" + std::string(address.substr(0, colon));
  }
  return {};
}

std::string find_mpiexec() {
  pid_t pid = getppid();
  for (int i = 0; i < kMostAncestors && pid > 0; ++i) {
    const auto command_line = read_small_file("/proc/" + std::to_string(pid) + "/cmdline");
    if (command_line) {
      if (std::string mpiexec = mpiexec_of_proxy(*command_line); !mpiexec.empty()) return mpiexec;
    }
    pid = parent_of(pid);
  }
  return {};
}

}  // namespace jaxprof::launcher

#include "agent/base/process_presence.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"

namespace jaxprof {
namespace {

// What /proc/PID/stat says (proc(5)).
struct ProcStat {
  char state = '?';
  std::uint64_t threads = 0;      // field 20
  std::uint64_t start_ticks = 0;  // field 22
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t\n", at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::uint64_t number(const std::string& word) {
  std::uint64_t value = 0;
  std::from_chars(word.data(), word.data() + word.size(), value);
  return value;
}

std::optional<ProcStat> read_stat(const std::string& pid) {
  const auto text = read_small_file("/proc/" + pid + "/stat");
  if (!text) return std::nullopt;
  // The command's name, field 2, may hold blanks and parentheses: count from the last ')'.
  const std::size_t end_of_name = text->rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = split(text->substr(end_of_name + 1));  // from field 3 on
  if (fields.size() < 20) return std::nullopt;
  return ProcStat{fields[0][0], number(fields[17]), number(fields[19])};
}

// Of a process whose first thread has ended and others have not, the state is a zombie's as well.
bool has_ended(const ProcStat& stat) {
  return (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

// The process's number in the innermost pid namespace, 0 if it has only one number.
std::uint64_t inner_pid(const std::string& pid) {
  const auto text = read_small_file("/proc/" + pid + "/status");
  const std::size_t at = text ? text->find("\nNSpid:") : std::string::npos;
  if (at == std::string::npos) return 0;
  const std::vector<std::string> numbers = split(text->substr(at + 7, text->find('\n', at + 1) - at - 7));
  return numbers.size() > 1 ? number(numbers.back()) : 0;
}

}  // namespace

bool is_process_present(pid_t pid, std::uint64_t start_ticks) {
  if (pid <= 0 || start_ticks == 0) return false;
  const auto stat = read_stat(std::to_string(pid));
  if (stat && stat->start_ticks == start_ticks) return !has_ended(*stat);
  for (const std::string& name : list_directory("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (inner_pid(name) != static_cast<std::uint64_t>(pid)) continue;
    // A container may have a boot time of its own (a time namespace), which shifts its start_ticks: the pid has to do.
    const auto inner = read_stat(name);
    if (inner && !has_ended(*inner)) return true;
  }
  return false;
}

std::uint64_t own_pid_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace jaxprof

#include "launcher/agent_library.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {
namespace {

// The path without links and dots; as given if it cannot be resolved.
std::string absolute_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

Status check_library(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(ErrorCode::kNodeNotReady, "cannot open the agent library " + path);
  char head[5] = {};
  if (read(fd.get(), head, sizeof head) != sizeof head || std::memcmp(head, "\177ELF\2", sizeof head) != 0) {
    return fail(ErrorCode::kNodeNotReady, path + " is not a 64-bit shared object");
  }
  return {};
}

}  // namespace

Result<std::string> find_agent_library(const std::string& program_path, const Env& env) {
  std::string path;
  if (const char* given = env.get("JAXPROF_AGENT"); given != nullptr && *given != '\0') {
    path = given;
  } else {
    const std::string folder = program_path.substr(0, program_path.rfind('/'));
    const std::string name(kAgentFileName);
    path = folder + "/../lib/jaxprof/" + name;
    if (access(path.c_str(), F_OK) != 0 && access((folder + "/../lib/" + name).c_str(), F_OK) == 0) {
      path = folder + "/../lib/" + name;
    }
  }
  path = absolute_path(path);
  if (auto status = check_library(path); !status) return tl::unexpected(std::move(status.error()));
  return path;
}

std::string own_program_path() {
  char path[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace jaxprof::launcher

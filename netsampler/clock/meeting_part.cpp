#include "netsampler/clock/meeting_part.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace jaxprof::netsampler {
namespace {

// A folder has many paths. Other users cannot enter what this one makes in it, and meet by themselves.
std::string name_of(const struct stat& folder, const std::string& boot_id) {
  return "jaxprof-meeting." + std::to_string(geteuid()) + "." + std::to_string(folder.st_dev) + "." +
         std::to_string(folder.st_ino) + "." + boot_id;
}

}  // namespace

Result<MeetingPart> MeetingPart::take(const std::string& folder, const std::string& boot_id) {
  struct stat status {};
  if (stat(folder.c_str(), &status) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot look at " + folder);
  UniqueFd socket_fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket_fd) return fail_errno(ErrorCode::kNodeNotReady, "no socket for the meeting");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = name_of(status, boot_id).substr(0, sizeof address.sun_path - 1);
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // behind a zero: no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(socket_fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) {
    return MeetingPart(std::move(socket_fd));
  }
  if (errno != EADDRINUSE) return fail_errno(ErrorCode::kNodeNotReady, "no name for the meeting");
  return MeetingPart(UniqueFd());
}

}  // namespace jaxprof::netsampler

#include "netsampler/clock/clock_token.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "agent/base/unique_fd.h"

namespace jaxprof::netsampler {
namespace {

// The other observer's file may be gone from under its name and back, but not again and again.
constexpr int kAttempts = 5;

tl::unexpected<Error> refuse(const std::string& path, const std::string& why) {
  return fail(ErrorCode::kNodeNotReady, "clock token " + path + ": " + why);
}

tl::unexpected<Error> refuse_errno(const std::string& path, const std::string& what) {
  return fail_errno(ErrorCode::kNodeNotReady, "clock token " + path + ": " + what);
}

std::string random_suffix() {
  std::array<std::uint8_t, 8> random{};
  randombytes_buf(random.data(), random.size());
  std::array<char, 2 * random.size() + 1> text{};
  sodium_bin2hex(text.data(), text.size(), random.data(), random.size());
  return text.data();
}

// Whose a file is that this process makes beside `path`: a server may map users (root of a container above all) to
// others of its own. This process's user where no file can be made.
uid_t owner_of_new_files(const std::string& path) {
  const std::string own_path = path + ".tmp." + random_suffix();
  const UniqueFd file(open(own_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat status {};
  const bool is_known = file && fstat(file.get(), &status) == 0;
  if (file) unlink(own_path.c_str());
  return is_known ? status.st_uid : geteuid();
}

// Why the file is not to be believed; nothing if it is.
std::optional<std::string> find_fault(const std::string& path, const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "not a regular file";
  if (status.st_uid != geteuid() && status.st_uid != owner_of_new_files(path)) {
    return "it belongs to user " + std::to_string(status.st_uid) + ", not to " + std::to_string(geteuid());
  }
  if ((status.st_mode & 077U) != 0) return "others may open it: its mode has to be 0600";
  if (status.st_size != static_cast<off_t>(kTokenBytes)) {
    return "it has " + std::to_string(status.st_size) + " bytes, not " + std::to_string(kTokenBytes);
  }
  return std::nullopt;
}

// Nothing if there is no such file.
Result<std::optional<ClockToken>> read_token(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::optional<ClockToken>();
    return refuse_errno(path, "cannot be opened");
  }
  struct stat status {};
  if (fstat(file.get(), &status) != 0) return refuse_errno(path, "cannot be looked at");
  if (const auto fault = find_fault(path, status)) return refuse(path, *fault);
  ClockToken token{};
  const ssize_t size = read(file.get(), token.data(), token.size());
  if (size < 0) return refuse_errno(path, "cannot be read");
  if (size != static_cast<ssize_t>(kTokenBytes)) return refuse(path, "it ended early");
  return std::optional<ClockToken>(token);
}

// Whole and on the disk under a name of its own, then under `path`; another's that is there already is left alone.
Status make_token(const std::string& path) {
  const std::string own_path = path + ".tmp." + random_suffix();
  const UniqueFd file(open(own_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return refuse_errno(path, "no file can be made beside it");
  ClockToken token{};
  randombytes_buf(token.data(), token.size());
  Status status;
  if (fchmod(file.get(), 0600) != 0 ||
      write(file.get(), token.data(), token.size()) != static_cast<ssize_t>(kTokenBytes) || fsync(file.get()) != 0) {
    status = refuse_errno(path, "cannot be written");
  } else if (link(own_path.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    status = refuse_errno(path, "cannot be named");
  }
  unlink(own_path.c_str());
  return status;
}

}  // namespace

Result<ClockToken> take_clock_token(const std::string& path) {
  Status made;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto token = read_token(path);
    if (!token) return tl::unexpected(std::move(token.error()));
    if (*token) return **token;
    // NFS may say that link(2) failed where it did not: the next look tells.
    if (!made) break;
    made = make_token(path);
  }
  if (!made) return tl::unexpected(std::move(made.error()));
  return refuse(path, "is taken away as often as it is made");
}

}  // namespace jaxprof::netsampler

// write(2) to the end; after a failure what comes is dropped.
#include "merge/export/byte_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace jaxprof::exporting {

Result<ByteFile> ByteFile::create(const std::string& path) {
  auto output = runfile::OutputFile::create(path, true);
  if (!output) return tl::unexpected(std::move(output.error()));
  UniqueFd fd{::open(output->part_path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC)};
  if (!fd) return fail_errno(ErrorCode::kOutputFailed, output->part_path() + ": cannot be opened");
  return ByteFile{std::move(*output), std::move(fd)};
}

void ByteFile::flush() {
  for (std::size_t done = 0; status_ && done < buffer_.size();) {
    const ssize_t n = ::write(fd_.get(), buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      status_ = fail_errno(ErrorCode::kOutputFailed, output_.part_path() + ": cannot be written");
    } else {
      done += static_cast<std::size_t>(n);
    }
  }
  buffer_.clear();
}

Result<std::uint64_t> ByteFile::publish() {
  flush();
  if (!status_) return tl::unexpected(std::move(status_.error()));
  return output_.publish();
}

}  // namespace jaxprof::exporting

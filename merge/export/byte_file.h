// What an export writes may be gigabytes, goes out in order, and shall stand under its name only when it is whole: a
// buffer before a NAME.part that gets the name at the end. A full disk is told once, by publish().
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"
#include "merge/runfile/output_file.h"

namespace jaxprof::exporting {

// One thread.
class ByteFile {
 public:
  // A regular file of that name is replaced by publish(). kOutputFailed where it cannot be written.
  static Result<ByteFile> create(const std::string& path);

  // To be appended to; call flush_if_full() after each piece.
  std::string& buffer() { return buffer_; }
  void flush_if_full() {
    if (buffer_.size() >= kFlushBytes) flush();
  }

  // Writes the rest, syncs and names the file; its size in bytes. kOutputFailed if any write failed; then, as without
  // publish(), nothing is left.
  Result<std::uint64_t> publish();

 private:
  static constexpr std::size_t kFlushBytes = 1 << 20;

  ByteFile(runfile::OutputFile output, UniqueFd fd) : output_(std::move(output)), fd_(std::move(fd)) {}
  void flush();

  runfile::OutputFile output_;
  UniqueFd fd_;
  std::string buffer_;
  Status status_;
};

}  // namespace jaxprof::exporting

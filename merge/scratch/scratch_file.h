// A file for what does not fit into memory while a run is merged: without a name, so that nothing is left behind
// however the merge ends. It lies in a folder that the caller chooses, beside the run file, where there is room for
// what is about the same amount. Appended to, then read back in stretches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::scratch {

class ScratchFile {
 public:
  // O_TMPFILE, or where the file system has none (NFS, some Lustre) a name that is unlinked at once. kOutputFailed,
  // naming the folder and the cause.
  static Result<ScratchFile> create(const std::string& folder);

  // Written whole or kOutputFailed. Buffers nothing.
  Status append(std::span<const std::byte> bytes);
  std::uint64_t size_bytes() const { return size_bytes_; }
  // Exactly bytes.size() bytes from `offset` on. kOutputFailed if they are not there.
  Status read(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string folder_;
  UniqueFd fd_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace jaxprof::scratch

// A run file is written for minutes and read by others, so it appears under its name only when it is whole: the bytes
// go to NAME.part, are synced, and then get the name. One merge at a time may write a .part; one that a dead merge
// left behind is written over. This handles names and locks; what is written is the caller's.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::runfile {

// The folder that a file of that name lies in.
std::string folder_of(const std::string& path);

class OutputFile {
 public:
  // kOutputFailed if `path` exists and may not be replaced, or is a device, folder or link, which never may; if another
  // process writes its .part, or by errno.
  static Result<OutputFile> create(const std::string& path, bool may_replace);
  OutputFile(OutputFile&&) = default;
  OutputFile& operator=(OutputFile&&) = delete;
  // Without publish() the .part is removed.
  ~OutputFile();

  const std::string& part_path() const { return part_path_; }
  // Syncs the .part and names it; its size in bytes. Without may_replace a file that appeared meanwhile stays.
  Result<std::uint64_t> publish();

 private:
  OutputFile(std::string path, bool may_replace) : path_(std::move(path)), may_replace_(may_replace) {}
  Status name_it() const;

  std::string path_;
  std::string part_path_;
  bool may_replace_;
  UniqueFd fd_;  // holds the lock; open exactly while the .part is ours
};

}  // namespace jaxprof::runfile

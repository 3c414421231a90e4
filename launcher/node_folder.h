// The tasks of a run on one node share a folder beside their spool folders: marks that count lines on stderr, turns to
// copy, the deadline that one of them asked the batch system for. Nobody is in charge of it. So each wrapper that lives
// holds a file in it locked, and whoever leaves and sees no other such file held takes the folder away.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "agent/base/file_lock.h"

namespace jaxprof::launcher {

// Makes the folder if it is not there. False if that fails or if it is another user's: its name can be guessed, and it
// lies where anyone can write.
bool make_node_folder(const std::string& path, uid_t uid);

// One wrapper's place in the folder.
class NodeFolder {
 public:
  // Registers this process. None where no folder can be made: the task then does without what it would share.
  static std::optional<NodeFolder> join(const std::string& path, uid_t uid, pid_t pid);

  const std::string& path() const { return path_; }

  // Ends the registration, and removes the folder if no other is left.
  void leave();

 private:
  NodeFolder(std::string path, std::string own_file, FileLock lock);

  std::string path_;
  std::string own_file_;
  FileLock lock_;
};

}  // namespace jaxprof::launcher

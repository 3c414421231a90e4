// A file system of a few pages, to fill. Needs the right to mount; has_mounted() tells.
#pragma once

#include <sys/mount.h>

#include <string>

namespace jaxprof::test {

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder, const char* options = "size=64k")
      : folder_(folder), has_mounted_(mount("tmpfs", folder.c_str(), "tmpfs", 0, options) == 0) {}
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (has_mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  bool has_mounted() const { return has_mounted_; }

 private:
  std::string folder_;
  bool has_mounted_;
};

}  // namespace jaxprof::test

// A folder of a test's own that is gone afterwards.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace jaxprof::test {

class TempFolder {
 public:
  explicit TempFolder(const std::string& base = testing_folder()) {
    std::string name = base + "/jaxprof_XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_; }
  std::string file(const char* name) const { return path_ / name; }

 private:
  static std::string testing_folder() { return std::filesystem::temp_directory_path(); }
  std::filesystem::path path_;
};

}  // namespace jaxprof::test

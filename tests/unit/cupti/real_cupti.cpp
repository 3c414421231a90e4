#include "tests/unit/cupti/real_cupti.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace jaxprof::test {
namespace {

bool walks(cupti::Library* library) {
  alignas(8) std::uint32_t words[256];
  for (std::uint32_t& word : words) word = cupti::abi::kRuntime;
  void* record = nullptr;
  return library->functions.get_next_record(reinterpret_cast<std::uint8_t*>(words), sizeof words, &record) ==
         cupti::abi::kSuccess;
}

std::unique_ptr<cupti::Library> load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto library = std::make_unique<cupti::Library>();
  if (handle == nullptr || cupti::resolve_functions(handle, &library->functions) != nullptr) return nullptr;
  if (library->functions.get_version(&library->version) != cupti::abi::kSuccess || !walks(library.get()))
    return nullptr;
  library->capability = cupti::capability_of(library->version);
  return library;
}

// The folders of tests/setup.sh, each with the libraries of one list of requirements.
std::vector<std::string> unpacked_folders() {
  std::vector<std::string> folders;
  const char* home = std::getenv("HOME");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* deps = std::getenv("JAXPROF_DEPS");
  for (const std::string& parent : {std::string(deps != nullptr ? deps : ""), std::string("/var/cache/jaxprof"),
                                    std::string(cache != nullptr ? cache : "") + "/jaxprof",
                                    std::string(home != nullptr ? home : "") + "/.cache/jaxprof"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
      if (entry.path().filename().string().rfind("cupti-", 0) == 0) folders.push_back(entry.path().string());
    }
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  folders.emplace_back("/usr/local/cuda/extras/CUPTI/lib64");
  return folders;
}

}  // namespace

const cupti::Library* real_cupti(int major, std::string* why) {
  static std::map<int, std::unique_ptr<cupti::Library>> libraries;
  const std::string name = "/libcupti.so." + std::to_string(major);
  std::unique_ptr<cupti::Library>& library = libraries[major];
  *why = "no " + name.substr(1) + " that walks records without a GPU in";
  for (const std::string& folder : unpacked_folders()) {
    if (library == nullptr) library = load(folder + name);
    *why += " " + folder;
  }
  return library.get();
}

void make_walker(const cupti::Library& library, cupti::Subscriber* walker) {
  walker->use(library);
}

}  // namespace jaxprof::test

#include "tests/unit/cupti/real_cupti.h"

#include <dlfcn.h>

#include <cstdlib>
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

}  // namespace

const cupti::Library* real_cupti(std::string* why) {
  std::vector<std::string> places;
  if (const char* named = std::getenv("JAXPROF_TEST_LIBCUPTI"); named != nullptr) places.emplace_back(named);
  for (const char* folder :
       {JAXPROF_CUPTI_INCLUDE "/../lib", "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"}) {
    places.push_back(std::string(folder) + "/libcupti.so.13");
  }
  static const std::unique_ptr<cupti::Library> library = [&]() -> std::unique_ptr<cupti::Library> {
    for (const std::string& place : places) {
      if (std::unique_ptr<cupti::Library> found = load(place)) return found;
    }
    return nullptr;
  }();
  *why = "no libcupti that walks records without a GPU:";
  for (const std::string& place : places) *why += " " + place;
  return library.get();
}

void make_walker(const cupti::Library& library, cupti::Subscriber* walker) {
  walker->use(library);
}

}  // namespace jaxprof::test

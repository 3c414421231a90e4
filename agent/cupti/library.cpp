#include "agent/cupti/library.h"

#include <dlfcn.h>

#include "agent/base/env.h"
#include "agent/cupti/library_search.h"
#include "agent/cupti/result_text.h"

namespace jaxprof::cupti {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kToolkits[] = {
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
    "/usr/local/cuda/lib64/libcupti.so.13",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.12",
    "/usr/local/cuda/lib64/libcupti.so.12",
};

void* open_mapped(const MappedLibraries& mapped) noexcept {
  if (mapped.count == 0) return nullptr;
  if (void* handle = dlopen(mapped.paths[0], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); handle != nullptr) return handle;
  for (const char* name : kNames) {  // its file may have been moved since
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD); handle != nullptr) return handle;
  }
  return nullptr;
}

void* open_any() noexcept {
  char path[kLibraryPathBytes];
  find_neighbour(path);
  if (path[0] != '\0') {
    if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  }
  for (const char* name : kNames) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  }
  for (const char* name : kToolkits) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
  }
  return nullptr;
}

void* open_one(TextBuffer* why) noexcept {
  if (const char* path = Env().get(kLibraryVariable); path != nullptr && *path != '\0') {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      why->append(kLibraryVariable);
      why->append(" names a library that cannot be loaded: ");
      why->append(path);
    }
    return handle;
  }
  void* handle = open_mapped(find_mapped_libraries());
  if (handle == nullptr) handle = open_any();
  if (handle == nullptr) {
    why->append(
        "no libcupti.so.13 or .12: neither in the process, nor beside its CUDA libraries, nor on the loader's path; ");
    why->append(kLibraryVariable);
    why->append(" can name one");
  }
  return handle;
}

}  // namespace

bool open_library(Library* library, TextBuffer* why) noexcept {
  void* handle = open_one(why);
  if (handle == nullptr) return false;
  const MappedLibraries mapped = find_mapped_libraries();
  if (mapped.count > 1) {
    why->append("two copies of libcupti in one process, of which none can be trusted: ");
    why->append(mapped.paths[0]);
    why->append(" and ");
    why->append(mapped.paths[1]);
    return false;
  }
  TextBuffer(library->path, sizeof library->path).append(mapped.paths[0]);
  if (const char* missing = resolve_functions(handle, &library->functions); missing != nullptr) {
    why->append(library->path);
    why->append(" has no ");
    why->append(missing);
    return false;
  }
  if (const abi::Result result = library->functions.get_version(&library->version); result != abi::kSuccess) {
    why->append("CUPTI does not start: ");
    append_result(result, why);
    return false;
  }
  library->capability = capability_of(library->version);
  if (!library->capability.is_usable) why->append(library->capability.note);
  return library->capability.is_usable;
}

}  // namespace jaxprof::cupti

#include "agent/cupti/library_search.h"

#include <link.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/text.h"

namespace jaxprof::cupti {
namespace {

const char* file_name(const char* path) noexcept {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool starts_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

int note_mapped(dl_phdr_info* object, std::size_t, void* found) {
  auto* mapped = static_cast<MappedLibraries*>(found);
  if (!starts_with(file_name(object->dlpi_name), "libcupti.so")) return 0;
  if (mapped->count < 2) TextBuffer(mapped->paths[mapped->count], kLibraryPathBytes).append(object->dlpi_name);
  ++mapped->count;
  return 0;
}

// Libraries beside which a libcupti belongs to the same CUDA.
constexpr const char* kNeighbours[] = {"libcudart.so", "xla_cuda_plugin.so", "libnvrtc.so", "libcublas.so",
                                       "libcuda.so"};
// From the folder of such a library: CUDA 13's wheels, CUDA 12's wheels, a plugin of JAX, a toolkit.
constexpr const char* kPlaces[] = {
    "/libcupti.so.13",
    "/libcupti.so.12",
    "/../../cu13/lib/libcupti.so.13",
    "/../../cuda_cupti/lib/libcupti.so.12",
    "/../../nvidia/cu13/lib/libcupti.so.13",
    "/../../nvidia/cuda_cupti/lib/libcupti.so.12",
    "/../extras/CUPTI/lib64/libcupti.so.13",
    "/../extras/CUPTI/lib64/libcupti.so.12",
    "/../../../extras/CUPTI/lib64/libcupti.so.13",
    "/../../../extras/CUPTI/lib64/libcupti.so.12",
};

int look_beside(dl_phdr_info* object, std::size_t, void* found) {
  auto* path = static_cast<char*>(found);
  const char* name = file_name(object->dlpi_name);
  for (const char* neighbour : kNeighbours) {
    if (!starts_with(name, neighbour) || name == object->dlpi_name) continue;
    for (const char* place : kPlaces) {
      TextBuffer candidate(path, kLibraryPathBytes);
      candidate.append(object->dlpi_name, static_cast<std::size_t>(name - object->dlpi_name - 1));
      candidate.append(place);
      if (!candidate.is_truncated() && access(path, R_OK) == 0) return 1;
    }
  }
  path[0] = '\0';
  return 0;
}

}  // namespace

MappedLibraries find_mapped_libraries() noexcept {
  MappedLibraries mapped;
  dl_iterate_phdr(note_mapped, &mapped);
  return mapped;
}

void find_neighbour(char (&path)[kLibraryPathBytes]) noexcept {
  path[0] = '\0';
  dl_iterate_phdr(look_beside, path);
}

}  // namespace jaxprof::cupti

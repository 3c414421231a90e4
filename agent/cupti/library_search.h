// Where a libcupti may be: in the process already, or beside the CUDA libraries that are. Wheels of PyPI, toolkits and
// JAX's plugins each have their own layout, and none of them is on the loader's path.
#pragma once

#include <cstddef>

namespace jaxprof::cupti {

inline constexpr std::size_t kLibraryPathBytes = 512;

struct MappedLibraries {
  std::size_t count = 0;  // of different copies
  char paths[2][kLibraryPathBytes] = {};
};

// The copies of libcupti that are mapped into the process; names at most two.
MappedLibraries find_mapped_libraries() noexcept;

// The path of the first libcupti beside a mapped CUDA library, "" if there is none.
void find_neighbour(char (&path)[kLibraryPathBytes]) noexcept;

}  // namespace jaxprof::cupti

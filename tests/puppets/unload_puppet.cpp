// unload_puppet LIBRARY ROUNDS RANGES: loads nvtx_library, has it emit RANGES ranges in the default domain and as many
// in its own, and unloads it, ROUNDS times. Ends with 1 if the library did not really leave, for then nothing was
// shown.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: unload_puppet LIBRARY ROUNDS RANGES\n");
    return 2;
  }
  for (long round = std::strtol(argv[2], nullptr, 10); round > 0; --round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    void* symbol = library != nullptr ? dlsym(library, "emit_ranges") : nullptr;
    if (symbol == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    reinterpret_cast<void (*)(int)>(symbol)(static_cast<int>(std::strtol(argv[3], nullptr, 10)));
    dlclose(library);
    if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != nullptr) {
      std::fprintf(stderr, "%s cannot be unloaded\n", argv[1]);
      return 1;
    }
  }
  return 0;
}

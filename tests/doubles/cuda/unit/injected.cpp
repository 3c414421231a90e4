// A tool as CUDA_INJECTION64_PATH loads it; it leaves a mark in the environment.

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  const char* const count = std::getenv("INJECTED_COUNT");
  setenv("INJECTED_COUNT", count == nullptr ? "1" : "2", 1);
  return 1;
}

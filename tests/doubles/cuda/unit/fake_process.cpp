#include "tests/doubles/cuda/unit/fake_process.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace jaxprof::fake_cuda::test {
namespace {

void* chosen_cupti = nullptr;

void* find(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) {
    ADD_FAILURE() << "no function " << name;
    _exit(1);
  }
  return symbol;
}

}  // namespace

int in_fresh_process(const Settings& settings, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a test that hangs says so
    for (const auto& [name, value] : settings) setenv(name.c_str(), value.c_str(), 1);
    body();
    std::fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

void expect_passes(const Settings& settings, const std::function<void()>& body) {
  EXPECT_EQ(in_fresh_process(settings, body), 0);
}

void* load_library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    ADD_FAILURE() << dlerror();
    _exit(1);
  }
  return library;
}

void* driver_symbol(const char* name) {
  static void* const library = load_library(JAXPROF_LIBRARIES "/fake_cuda/libcuda.so.1");
  return find(library, name);
}

void* load_cupti(const char* path) {
  driver_symbol("cuInit");  // CUPTI finds the driver that the process has
  chosen_cupti = load_library(std::string(JAXPROF_LIBRARIES "/") + path);
  return chosen_cupti;
}

void* cupti_symbol(const char* name) {
  if (chosen_cupti == nullptr) load_cupti("fake_cuda/libcupti.so.13");
  return find(chosen_cupti, name);
}

CUstream ready_stream() {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  EXPECT_EQ(CUDA_FN(cuInit)(0), CUDA_SUCCESS);
  EXPECT_EQ(CUDA_FN(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_SUCCESS);
  EXPECT_EQ(CUDA_FN(cuCtxSetCurrent)(context), CUDA_SUCCESS);
  EXPECT_EQ(CUDA_FN(cuStreamCreate)(&stream, 0), CUDA_SUCCESS);
  return stream;
}

FakeCuptiCounts counted() {
  FakeCuptiCounts counts{};
  CUPTI_FN(fake_cupti_counts)(&counts);
  return counts;
}

}  // namespace jaxprof::fake_cuda::test

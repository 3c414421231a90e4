// Both fakes keep one state a process, and read their switches when they are loaded: each test needs a process of its
// own. in_fresh_process() forks one before anything is loaded and runs a body there that may use gtest's EXPECT macros.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/doubles/cuda/fake_cuda.h"

namespace jaxprof::fake_cuda::test {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The wait status of the child. 0: the body ended and no expectation failed. `settings` are variables of the
// environment.
int in_fresh_process(const Settings& settings, const std::function<void()>& body);
// Expects that to be 0.
void expect_passes(const Settings& settings, const std::function<void()>& body);

// The function `name` of the fake driver, or of the fake CUPTI that load_cupti() chose; loads them when first asked.
// The process ends if there is none.
void* driver_symbol(const char* name);
void* cupti_symbol(const char* name);
// Instead of the newest: "fake_cuda/libcupti.so.12" or "fake_cupti_13_0/libcupti.so.13". Returns its handle.
void* load_cupti(const char* path);
void* load_library(const std::string& path);

// cuInit, the primary context of device 0 current, and a stream.
CUstream ready_stream();
// Of the CUPTI in use.
FakeCuptiCounts counted();

}  // namespace jaxprof::fake_cuda::test

// A function of the fakes by its real name, as in CUDA_FN(cuInit)(0).
#define CUDA_FN(NAME) reinterpret_cast<decltype(&NAME)>(::jaxprof::fake_cuda::test::driver_symbol(#NAME))
#define CUPTI_FN(NAME) reinterpret_cast<decltype(&NAME)>(::jaxprof::fake_cuda::test::cupti_symbol(#NAME))

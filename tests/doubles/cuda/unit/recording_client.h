// A simple profiler in the test's process: it lends buffers, keeps what comes back, and reads records as NVIDIA's
// structures.
#pragma once

#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/doubles/cuda/unit/fake_process.h"

namespace jaxprof::fake_cuda::test {

// A buffer as it was given back.
struct GivenBuffer {
  std::vector<std::uint8_t> bytes;  // the valid ones
  std::thread::id thread;
};

// What the one client of a process has; all functions are static because CUPTI's callbacks are.
class RecordingClient {
 public:
  // Buffers of this size are lent; 0: none.
  static inline std::size_t buffer_bytes = 65536;
  static inline bool are_dirty = false;

  static void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
  static void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid);
  static void register_v1();
  // Enables kinds, and registers callbacks before.
  static void record(std::initializer_list<CUpti_ActivityKind> kinds);

  static std::vector<GivenBuffer> buffers();
  // Records of a kind, in the order in which they lie in the buffers.
  template <typename Record>
  static std::vector<Record> records(CUpti_ActivityKind kind) {
    std::vector<Record> found;
    each_record([&found, kind](const std::uint8_t* at, std::size_t bytes) {
      if (reinterpret_cast<const CUpti_Activity*>(at)->kind != kind) return;
      Record record{};
      std::memcpy(&record, at, std::min(bytes, sizeof record));
      found.push_back(record);
    });
    return found;
  }
  static std::vector<CUpti_ActivityKernel13> kernels();
  static void flush(std::uint32_t flag = 0);
  // Waits for the engine, then flushes.
  static void settle_and_flush();

 private:
  static void each_record(const std::function<void(const std::uint8_t*, std::size_t)>& each);
};

// A kernel that ends when it is told to.
class HeldKernel {
 public:
  HeldKernel();
  void launch(CUstream stream);
  void release();

 private:
  static void body(FakeCudaExecution* execution);
  std::mutex mutex_;
  CUfunction function_;
};

void launch(CUfunction function, CUstream stream);
CUfunction plain_kernel(const char* name = "plain");

}  // namespace jaxprof::fake_cuda::test

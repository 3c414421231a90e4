// The command line of cuda_puppet: what each step does on which devices, threads and streams, who else uses CUPTI, and
// how the process ends. Parsing is strict: an unknown word is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace jaxprof::puppets {

enum class CudaWork : std::uint8_t {
  kKernel,   // N launches of a kernel that lasts --kernel-us
  kCopy,     // N copies: to the device and back
  kFill,     // N memsets
  kHost,     // N host functions
  kGraph,    // one launch of a graph with N kernels, built once node by node
  kCapture,  // the same, captured
  kEvent,    // N times: record, and the next stream waits
  kModule,   // N launches of a kernel from a module that is loaded before and unloaded behind them
  kRuntime,  // N launches within calls of the CUDA runtime
  kSync,     // waits for the stream, N times
};

struct CudaTask {
  CudaWork work;
  int count;
};

enum class CudaExit : std::uint8_t { kReturn, kExit, kUnderscoreExit, kAbort, kTerm, kKill, kSegv };
// Another user of CUPTI in the process.
enum class CudaRival : std::uint8_t {
  kNone,
  kSubscribe,  // cuptiSubscribe before cuInit
  kLate,       // the same after the first step
  kRegister,   // never subscribes: registers buffers and enables kernels after the first step
  kMultiple,   // cuptiSubscribe_v2, several allowed, after the first step
};

struct CudaOptions {
  std::vector<CudaTask> tasks{{CudaWork::kKernel, 4}};
  int n_steps = 10;
  int n_devices = 1;
  int n_threads = 1;  // a device each, in turn
  int n_streams = 1;  // a thread
  std::int64_t kernel_us = 100;
  std::int64_t period_us = 0;  // between steps
  std::size_t bytes = 65536;   // of a copy or memset
  bool has_bodies = true;      // kernels stamp themselves; without, the engine does, and is faster
  bool uses_nvtx = true;
  std::vector<std::pair<int, int>> profiler_ranges;  // cudaProfilerStart before step A, Stop after step B
  int fork_at = -1;                                  // a child, before this step
  CudaRival rival = CudaRival::kNone;
  std::vector<std::string> libraries;  // loaded first: a CUPTI besides
  std::int64_t linger_ms = 0;          // before the end
  CudaExit exit = CudaExit::kReturn;
  int exit_code = 0;
  std::string log_template;
  bool wants_help = false;
};

std::string cuda_usage();
// nullopt and `error` set if the command line is wrong.
std::optional<CudaOptions> parse_cuda_options(int argc, char** argv, std::string* error);

}  // namespace jaxprof::puppets

// What cuda_puppet's GPU really did: lines like those of nccl_puppet's log. A kernel stamps itself, on the thread on
// which it runs; copies and graphs are stamped by the engine.
#pragma once

#include <cstdint>
#include <string>

#include "tests/doubles/cuda/fake_cuda.h"
#include "tests/doubles/record_file.h"

namespace jaxprof::puppets {

class CudaTruth {
 public:
  // `path_template`: %r rank (SLURM_PROCID, OMPI_COMM_WORLD_RANK or 0), %p process id, %h host; empty: no log.
  explicit CudaTruth(const std::string& path_template);
  bool is_open() const { return file_.is_open(); }
  void header(int n_devices) const;
  // A kernel of ours: CLOCK_MONOTONIC_RAW, and `begin_realtime_ns` read right after the begin.
  void kernel(const FakeCudaExecution& execution, std::int64_t step, std::int64_t begin_realtime_ns) const;
  // By the engine.
  void operation(const FakeCudaOperation& operation) const;
  void launch(const char* what, std::int64_t step, std::uint32_t stream, std::uint32_t correlation,
              std::int64_t before_raw_ns, std::int64_t after_raw_ns) const;
  void profiler(const char* what, std::int64_t before_raw_ns, std::int64_t after_raw_ns) const;
  void iteration(std::int64_t step, std::int64_t begin_raw_ns, std::int64_t end_raw_ns) const;
  void rival(const char* what, int result) const;
  void footer() const;

 private:
  const doubles::RecordFile file_;
};

}  // namespace jaxprof::puppets

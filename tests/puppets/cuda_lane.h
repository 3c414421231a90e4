// One application thread of cuda_puppet: a device's primary context, some streams, and the work of a step on each of
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/puppets/cuda_library.h"
#include "tests/puppets/cuda_options.h"
#include "tests/puppets/cuda_truth.h"

namespace jaxprof::puppets {

// Used by one thread, which make_current() names.
class CudaLane {
 public:
  CudaLane(const CudaOptions& options, const CudaLibrary& cuda, const CudaTruth& truth, int number);
  void make_current();
  void step(std::int64_t step);

 private:
  void run(const CudaTask& task, std::size_t stream, std::int64_t step);
  void launch(CudaHandle function, CudaHandle stream, const char* name, std::int64_t step);
  CudaHandle graph(std::size_t stream, int n_kernels, bool is_captured);
  void launch_graph(CudaHandle graph, CudaHandle stream, std::int64_t step);
  void use_module(CudaHandle stream, int count, std::int64_t step);

  const CudaOptions& options_;
  const CudaLibrary& cuda_;
  const CudaTruth& truth_;
  CudaHandle context_ = nullptr;
  std::vector<CudaHandle> streams_;
  CudaHandle kernel_ = nullptr;
  CudaHandle node_kernel_ = nullptr;
  CudaHandle event_ = nullptr;
  CudaAddress device_memory_ = 0;
  std::vector<char> host_memory_;
  struct Made {
    std::size_t stream;
    int n_kernels;
    bool is_captured;
    CudaHandle executable;
  };
  std::vector<Made> graphs_;
};

}  // namespace jaxprof::puppets

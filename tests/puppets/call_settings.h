// How the puppet's NCCL carries calls out: by what, launched by whom, marked how.
#pragma once

#include <cstdint>

namespace jaxprof::puppets {

// What carries a collective out: a kernel; from 2.27 on, on symmetric buffers, one that the profiler interface does not
// show until 2.31; or the GPU's copy engines (2.28 on, shown from 2.29 on).
enum class Carrier : std::uint8_t { kKernel, kSymmetricKernel, kCopyEngines };

// Which thread launches: the calling one; with a non-blocking communicator one of NCCL's own, while the call has
// returned; or the calling one, with what NCCL reports of the plan on CUDA's callback thread (as where the host stream
// is not ready, or launches block).
enum class LaunchThread : std::uint8_t { kUser, kAsync, kCallback };

struct CallSettings {
  Carrier carrier = Carrier::kKernel;  // of the functions that can be carried out so
  LaunchThread launch = LaunchThread::kUser;
  std::uint64_t user_tag = 0;  // from interface version 7 on
};

}  // namespace jaxprof::puppets
